-- with producer
-- Rows as they are once what waits for a consumer has been taken. ARGV: their keys.
-- Returns JSON: key -> fields; a key that is absent or no hash has no fields.
local rows = {}
for _, key in ipairs(ARGV) do
  rows[key] = effective(key)
end
return cjson.encode(rows)
