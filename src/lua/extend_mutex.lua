-- KEYS: lock. ARGV: token, ttl in ms. Reply: 1 the ttl is set, 0 there is no lock, -1 it is another owner's.
local value = redis.call('GET', KEYS[1])
if not value then return 0 end
if string.sub(value, 1, 32) ~= ARGV[1] then return -1 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
