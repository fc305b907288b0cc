-- KEYS: see semaphore_state.lua. ARGV: token. Reply: 1 released, 0 it held nothing any more.
-- Wakes as many as slots are free. A waiter that gives up runs it too: it undoes a grant that nobody heard of, gives up the
-- room kept for it, and hands on a wake-up that came too late.
-- after: semaphore_wakes.lua
local score = tonumber(redis.call('ZSCORE', holders, ARGV[1]) or 0)
drop(ARGV[1])
if claimant == ARGV[1] and is.kept > 0 then is.kept, changed = 0, true end
if changed then save() else keep() end  -- always, so that the right to it is tried with the first release
wake(100)
return score > now and 1 or 0
