-- Rows of a table that nobody else writes, each made anew.
-- ARGV[1]: where their keys begin; ARGV[2]: JSON object: rest of the key -> [field, value, ...];
-- one without fields goes.
for rest, flat in pairs(cjson.decode(ARGV[2])) do
  redis.call('DEL', ARGV[1] .. rest)
  if #flat > 0 then
    redis.call('HSET', ARGV[1] .. rest, unpack(flat))
  end
end
