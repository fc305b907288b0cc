-- KEYS: see semaphore_state.lua. ARGV: token, ttl in ms. Reply: 1 the holder's time is set, 0 its time is over.
-- after: semaphore_steps.lua
local score = tonumber(redis.call('ZSCORE', holders, ARGV[1]) or 0)
if score <= now then return 0 end
keep()  -- before it: a server that is out of memory lets ZADD pass only in a script that has written
redis.call('ZADD', holders, 'XX', text(math.min(now + ARGV[2], 9007199254739991)), ARGV[1])
keep()
return 1
