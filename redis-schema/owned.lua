-- Members of the set ARGV[1], as one JSON text: a reply of thousands of members is slow to parse.
return cjson.encode(redis.call('SMEMBERS', ARGV[1]))
