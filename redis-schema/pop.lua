-- with producer
-- ConsumerStateTable's side (sonic-swss-common common/consumer_state_table_pops.lua): what waits
-- becomes the table's row and is handed over, once.
-- ARGV[1]: table; ARGV[2]: how many keys at most.
-- Returns JSON: a list of [key, fields]; no fields mean that the row is gone. They are those that
-- were set since the last pop: a row may have older ones beside them, unless it was deleted first.
local t, out = ARGV[1], {}
for n, key in ipairs(redis.call('SPOP', t .. '_KEY_SET', ARGV[2])) do
  local row, pending = t .. ':' .. key, '_' .. t .. ':' .. key
  local replaced = redis.call('SREM', t .. '_DEL_SET', key)
  if replaced == 1 then
    redis.call('DEL', row)
  end
  local fields, flat = {}, redis.call('HGETALL', pending)
  for i = 1, #flat, 2 do
    fields[flat[i]] = flat[i + 1]
  end
  call_in_parts('HSET', row, flat)
  redis.call('DEL', pending)
  out[n] = { key, fields }
end
return cjson.encode(out)
