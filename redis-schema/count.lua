-- Counters into rows that are ours. ARGV[1]: key of our list; ARGV[2]: lines of key, packets, octets
-- and errors; then the names of these three fields.
-- Text, for a number of Lua is exact up to 2^53 only. A row that is not on the list is passed over:
-- after a FLUSHALL, which nobody may have heard of yet, writing it would make one that is nobody's.
local list, packets, octets, errors = ARGV[1], ARGV[3], ARGV[4], ARGV[5]
for key, p, o, e in ARGV[2]:gmatch('(%S+) (%S+) (%S+) (%S+)\n') do
  if redis.call('SISMEMBER', list, key) == 1 then
    redis.call('HSET', key, packets, p, octets, o, errors, e)
  end
end
