-- KEYS: lock, wake, mark. ARGV: token. Reply: 1 released, 0 there was no lock, -1 it is another owner's.
-- Wakes one waiter if the lock is free now. A waiter that gives up runs it too: it undoes a grant that nobody heard of
-- and hands on a wake-up that came too late.
local value = redis.call('GET', KEYS[1])
if value and string.sub(value, 1, 32) ~= ARGV[1] then return -1 end
local released = redis.call('DEL', KEYS[1])
if redis.call('EXISTS', KEYS[3]) == 1 and redis.call('LLEN', KEYS[2]) == 0 then
  redis.call('LPUSH', KEYS[2], 1)
  redis.call('PEXPIRE', KEYS[2], 2000)
end
return released
