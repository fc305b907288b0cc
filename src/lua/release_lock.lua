-- KEYS: lock. ARGV: token. Reply: 1 released, 0 there was no lock, -1 it is another owner's.
local value = redis.call('GET', KEYS[1])
if not value then return 0 end
if value ~= ARGV[1] then return -1 end
redis.call('DEL', KEYS[1])
return 1
