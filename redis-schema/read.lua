-- Rows as they are. ARGV: their keys.
-- Returns JSON: key -> fields; a key that is absent or no hash has no fields.
local rows = {}
for _, key in ipairs(ARGV) do
  local fields = {}
  if redis.call('TYPE', key).ok == 'hash' then
    local flat = redis.call('HGETALL', key)
    for i = 1, #flat, 2 do
      fields[flat[i]] = flat[i + 1]
    end
  end
  rows[key] = fields
end
return cjson.encode(rows)
