-- KEYS: see semaphore_state.lua. ARGV: token. Reply: 1 released, 0 it held nothing any more.
-- Wakes as many as slots are free. A waiter that gives up runs it too: it undoes a grant that nobody heard of, gives up the
-- room kept for it, and hands on a wake-up that came too late.
-- after: semaphore_unwatched.lua
-- after: semaphore_wakes.lua
give_up_claim(ARGV[1])
if not own and called > 0 then call_up(-1) end
wake(100)
return score >= now and 1 or 0
