-- with producer
-- Rows and their place on our list, together: neither a crash nor another writer comes between.
-- ARGV[1]: key of the list; ARGV[2]: JSON list of operations on rows of one table:
--   ["put", key, whole, [field, value, ...], [field gone, ...]]   whole: 1 to start from nothing
--   ["drop", key]
--   ["cell", key, field, old, new]   a field of a hash shared with others; "" is none
-- ARGV[3]: id of the database; ARGV[4]: the table if it may have a consumer, else "".
-- Effects in Redis are those of Table::set and Table::del (sonic-swss-common common/table.cpp), or,
-- while somebody consumes the table, those of ProducerStateTable: a consumer gets whole rows.
-- Returns the numbers of the operations refused because the row or field is somebody else's.
local list, db, t, rejected = ARGV[1], ARGV[3], ARGV[4], {}
local consumed = t ~= '' and redis.call('PUBSUB', 'NUMSUB', t .. '_CHANNEL@' .. db)[2] > 0

local function produce(key, set, gone)
  local fields = effective(key)
  local before = next(fields) ~= nil
  for _, field in ipairs(gone) do
    fields[field] = nil
  end
  for i = 1, #set, 2 do
    fields[set[i]] = set[i + 1]
  end
  -- A SET merges: fields go with a DEL before it.
  if #gone > 0 and before then
    produce_del(db, key)
  end
  produce_set(db, key, flat(fields))
end

local function put(key, whole, set, gone)
  local fresh = redis.call('SADD', list, key) == 1
  if fresh and (redis.call('EXISTS', key) == 1 or (t ~= '' and is_pending(key))) then
    redis.call('SREM', list, key)
    return false
  end
  if consumed then
    if whole == 1 and next(effective(key)) then
      produce_del(db, key)
    end
    produce(key, set, gone)
    return true
  end
  if not fresh then
    if t ~= '' then
      flush(key)
    end
    if whole == 1 then
      redis.call('DEL', key)
    end
    call_in_parts('HDEL', key, gone)
  end
  call_in_parts('HSET', key, set)
  return true
end

-- With a consumer it stays on our list until it has been taken; a later drop finds it gone.
local function drop(key)
  if redis.call('SISMEMBER', list, key) == 0 then
    return true
  end
  if consumed and (is_pending(key) or redis.call('EXISTS', key) == 1) then
    produce_del(db, key)
    return true
  end
  if t ~= '' then
    flush(key)
  end
  redis.call('DEL', key)
  redis.call('SREM', list, key)
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
    rejected[#rejected + 1] = number - 1
  end
end
return rejected
