-- KEYS: see shared_state.lua. ARGV: token, ttl in ms. Reply: 1 the holder's time is set, 0 its time is over, -1 and a writer
-- holds it.
-- after: shared_steps.lua
if end_of(own) < now then return not own and mode == 'exclusive' and -1 or 0 end
local over = math.min(now + ARGV[2], 9007199254740991)
keep(over)  -- before it: a server that is out of memory lets HSET pass only in a script that has written
enter(mode, over, entry())
return 1
