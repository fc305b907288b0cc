-- KEYS: resource. ARGV: fence. Reply: {value} or {} if there is none; 0 refused: a newer fence was here.
-- Reading raises the fence too: from now on nobody older writes what this reader decides on.
local seen = tonumber(redis.call('HGET', KEYS[1], 'fence') or 0)
if tonumber(ARGV[1]) < seen then return 0 end
redis.call('HSET', KEYS[1], 'fence', ARGV[1])
return {redis.call('HGET', KEYS[1], 'value') or nil}
