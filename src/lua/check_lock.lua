-- KEYS: lock. ARGV: token. Reply: 1 it is ours, 0 there is no lock, -1 it is another owner's.
local value = redis.call('GET', KEYS[1])
if not value then return 0 end
if value ~= ARGV[1] then return -1 end
return 1
