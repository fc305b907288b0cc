-- KEYS: see semaphore_state.lua. ARGV: token, ttl in ms. Reply: 1 the holder's time is set, 0 its time is over.
-- after: semaphore_state.lua
local score = tonumber(redis.call('ZSCORE', holders, ARGV[1]) or 0)
if score < now then return 0 end
local over = math.min(now + ARGV[2], 99999999999999)
keep_state(over)  -- before it: a server that is out of memory lets ZADD pass only in a script that has written
redis.call('ZADD', holders, 'XX', over, ARGV[1])
if over > tonumber(lives) then
  lives = over + 60000
  redis.call('PEXPIREAT', holders, lives)
  if limit > 0 then save() end
end
return 1
