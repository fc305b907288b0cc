-- KEYS: resource. ARGV: fence, value. Reply: 1 written, 0 refused: a newer fence was here.
-- The resource is a hash: the largest fence that touched it, and its value.
local seen = tonumber(redis.call('HGET', KEYS[1], 'fence') or 0)
if tonumber(ARGV[1]) < seen then return 0 end
redis.call('HSET', KEYS[1], 'fence', ARGV[1], 'value', ARGV[2])
return 1
