-- with producer
-- What waits in vain: rows of ours whose table nobody consumes any more become plain rows.
-- ARGV[1]: key of our list; ARGV[2]: id of the database; then the tables.
for n = 3, #ARGV do
  local t = ARGV[n]
  if redis.call('PUBSUB', 'NUMSUB', t .. '_CHANNEL@' .. ARGV[2])[2] == 0 then
    for _, key in ipairs(redis.call('SMEMBERS', t .. '_KEY_SET')) do
      if redis.call('SISMEMBER', ARGV[1], t .. ':' .. key) == 1 then
        flush(t .. ':' .. key)
      end
    end
  end
end
