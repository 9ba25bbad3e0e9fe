-- with producer
-- SET and DEL of ProducerStateTable for many rows of one table.
-- ARGV[1]: id of the database; ARGV[2]: JSON list of ["set", row, [field, value, ...]] and
-- ["del", row], in this order.
for _, operation in ipairs(cjson.decode(ARGV[2])) do
  if operation[1] == 'set' then
    produce_set(ARGV[1], operation[2], operation[3])
  else
    produce_del(ARGV[1], operation[2])
  end
end
