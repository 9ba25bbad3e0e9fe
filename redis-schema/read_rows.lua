-- Rows as they are, and whether they are rows. ARGV: their keys.
-- Returns JSON: key -> fields, or the name of the type of what is no hash, or "none".
local rows = {}
for _, key in ipairs(ARGV) do
  local kind = redis.call('TYPE', key).ok
  if kind == 'hash' then
    local fields, flat = {}, redis.call('HGETALL', key)
    for i = 1, #flat, 2 do
      fields[flat[i]] = flat[i + 1]
    end
    rows[key] = fields
  else
    rows[key] = kind
  end
end
return cjson.encode(rows)
