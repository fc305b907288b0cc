-- KEYS: see semaphore_state.lua; then queue, seen, wake. ARGV: token. Reply: 1 released, 0 it held nothing any more.
-- Wakes the first in line if a slot is free. A waiter that gives up runs it too: it leaves the line and undoes a grant that
-- nobody heard of.
-- after: semaphore_release.lua
-- after: queue.lua
leave_line(ARGV[1])
local first = first_in_line()
if first and used < limit then call_up(first) end
return score >= now and 1 or 0
