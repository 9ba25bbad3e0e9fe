-- ProducerStateTable's side of a table T with a consumer (sonic-swss-common
-- common/producerstatetable.cpp): what is to be done waits in the set T_KEY_SET, its fields in the
-- hash _T:key; a key in T_DEL_SET loses its row first. T_CHANNEL@<db> tells that there is work.
local function parted(key)
  return key:match('^([^:]+):(.*)$')
end

local function notify(t, db, key)
  if redis.call('SADD', t .. '_KEY_SET', key) == 1 then
    redis.call('PUBLISH', t .. '_CHANNEL@' .. db, 'G')
  end
end

-- Lua's stack bounds the arguments of one call.
local function call_in_parts(command, key, items)
  for first = 1, #items, 1000 do
    redis.call(command, key, unpack(items, first, math.min(first + 999, #items)))
  end
end

local function produce_set(db, row, flat)
  local t, key = parted(row)
  notify(t, db, key)
  call_in_parts('HSET', '_' .. row, flat)
end

local function produce_del(db, row)
  local t, key = parted(row)
  notify(t, db, key)
  redis.call('SADD', t .. '_DEL_SET', key)
  redis.call('DEL', '_' .. row)
end

-- Whether something of this row still waits.
local function is_pending(row)
  local t, key = parted(row)
  return t ~= nil and redis.call('SISMEMBER', t .. '_KEY_SET', key) == 1
end

-- A row as it is once what waits has been taken: flat list of fields and values.
local function effective(row)
  local t, key = parted(row)
  local fields = {}
  local function overlay(from)
    if redis.call('TYPE', from).ok == 'hash' then
      local flat = redis.call('HGETALL', from)
      for i = 1, #flat, 2 do
        fields[flat[i]] = flat[i + 1]
      end
    end
  end
  if not is_pending(row) then
    overlay(row)
    return fields
  end
  if redis.call('SISMEMBER', t .. '_DEL_SET', key) == 0 then
    overlay(row)
  end
  overlay('_' .. row)
  return fields
end

local function flat(fields)
  local items = {}
  for field, value in pairs(fields) do
    items[#items + 1] = field
    items[#items + 1] = value
  end
  return items
end

-- Make a row of what waits, as a consumer would have.
local function flush(row)
  if is_pending(row) then
    local t, key = parted(row)
    local fields = flat(effective(row))
    redis.call('SREM', t .. '_KEY_SET', key)
    redis.call('SREM', t .. '_DEL_SET', key)
    redis.call('DEL', row, '_' .. row)
    call_in_parts('HSET', row, fields)
  end
end
