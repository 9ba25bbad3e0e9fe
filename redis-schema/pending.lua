-- with producer
-- Rows of tables with a consumer. ARGV: their keys.
-- Returns JSON: key -> [whether something of it waits, fields once that has been taken].
local rows = {}
for _, key in ipairs(ARGV) do
  rows[key] = { is_pending(key), effective(key) }
end
return cjson.encode(rows)
