-- KEYS: see shared_state.lua. ARGV: token. Reply: 1 released, 0 it held nothing any more, -1 and a writer holds it.
-- Wakes who is next. A waiter that gives up runs it too: it undoes a grant that nobody heard of, lets those in whom it kept
-- out, and hands on a wake-up that came too late.
-- after: shared_wakes.lua
local over = end_of(own)
redis.call('HDEL', holders, token)  -- always, so that the right to it is tried with the first release
purge()
if redis.call('HLEN', holders) == 2 and mode then
  redis.call('DEL', holders)
  mode = false
end
unclaim()
save()
keep(0)
wake()
return over >= now and 1 or mode == 'exclusive' and -1 or 0
