-- KEYS: lock, queue, seen, wake. ARGV: token. Reply: 1 released, 0 there was no lock, -1 it is another owner's.
-- Wakes the first in line if the lock is free now. A waiter that gives up runs it too: it leaves the line and undoes a grant
-- that nobody heard of.
-- after: queue.lua
local value = redis.call('GET', KEYS[1])
leave_line(ARGV[1])
if value and string.sub(value, 1, 32) ~= ARGV[1] then return -1 end
local released = redis.call('DEL', KEYS[1])
local first = first_in_line()
if first then call_up(first) end
return released
