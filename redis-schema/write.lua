-- Rows and their place on our list, together: neither a crash nor another writer comes between.
-- ARGV[1]: key of the list; ARGV[2]: JSON list of operations:
--   ["put", key, whole, [field, value, ...], [field gone, ...]]   whole: 1 to start from nothing
--   ["drop", key]
--   ["cell", key, field, old, new]   a field of a hash shared with others; "" is none
-- Effects in Redis are those of Table::set and Table::del (sonic-swss-common common/table.cpp).
-- Returns the numbers of the operations refused because the row or field is somebody else's.
local list, refused = ARGV[1], {}

-- Lua's stack bounds the arguments of one call.
local function call_in_parts(command, key, items)
  for first = 1, #items, 1000 do
    redis.call(command, key, unpack(items, first, math.min(first + 999, #items)))
  end
end

local function put(key, whole, set, gone)
  if redis.call('SADD', list, key) == 1 and redis.call('EXISTS', key) == 1 then
    redis.call('SREM', list, key)
    return false
  end
  if whole == 1 then
    redis.call('DEL', key)
  end
  call_in_parts('HDEL', key, gone)
  call_in_parts('HSET', key, set)
  return true
end

local function drop(key)
  if redis.call('SREM', list, key) == 1 then
    redis.call('DEL', key)
  end
  return true
end

local function cell(key, field, old, new)
  local now = redis.call('HGET', key, field) or ''
  if new == '' then
    if now == old then
      redis.call('HDEL', key, field)
    end
  elseif now == '' or now == old then
    redis.call('HSET', key, field, new)
  elseif now ~= new then
    return false
  end
  return true
end

local does = { put = put, drop = drop, cell = cell }
for number, operation in ipairs(cjson.decode(ARGV[2])) do
  if not does[operation[1]](unpack(operation, 2)) then
    refused[#refused + 1] = number - 1
  end
end
return refused
