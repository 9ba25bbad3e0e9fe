-- Rows as they are. ARGV: how many fields are too many for one answer, and keys.
-- Returns JSON: key -> fields; a key that is absent or no hash has no fields, and false stands for
-- too many.
local rows = {}
local most = tonumber(table.remove(ARGV, 1))
for _, key in ipairs(ARGV) do
  local fields = {}
  if redis.call('TYPE', key).ok == 'hash' then
    if redis.call('HLEN', key) > most then
      fields = false
    else
      local flat = redis.call('HGETALL', key)
      for i = 1, #flat, 2 do
        fields[flat[i]] = flat[i + 1]
      end
    end
  end
  rows[key] = fields
end
return cjson.encode(rows)
