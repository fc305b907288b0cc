-- KEYS: lock. ARGV: token. Reply: 1 released, 0 there was no lock, -1 it is another owner's.
local value = redis.call('GET', KEYS[1])
if value and string.sub(value, 1, 32) ~= ARGV[1] then return -1 end
return redis.call('DEL', KEYS[1])
