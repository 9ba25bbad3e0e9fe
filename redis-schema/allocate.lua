-- The first of ARGV[2] fresh object indexes, all above ARGV[1]: a counter that was lost (FLUSHALL)
-- starts above the highest that we still hold.
if tonumber(redis.call('GET', 'VIDCOUNTER') or '0') < tonumber(ARGV[1]) then
  redis.call('SET', 'VIDCOUNTER', ARGV[1])
end
return redis.call('INCRBY', 'VIDCOUNTER', ARGV[2]) - tonumber(ARGV[2]) + 1
