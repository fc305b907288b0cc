-- A fragment, for the script that acquires: what a request in vain leaves behind.
-- after: semaphore_wakes.lua

-- A waiter is woken by whoever gives something back in the next two seconds. One that wants several has room kept for it,
-- so that those who want one do not get in front of it for ever; one that wants more than there is, has not.
local function claim(token, weight)
  if weight > limit then return end
  watch = now + 2000
  redis.call('HSET', state, weight == 1 and 'mark' or 'turn', watch)
  if weight == 1 or kept_for_others(token) > 0 then return end
  redis.call('HSET', state, 'amount', weight, 'kept', watch, 'passed', 0, 'claimant', token)
end
-- It may have been woken by what was meant for the one room is kept for: that one is next in the list, unless it died - then
-- this stops.
local function pass_on()
  if redis.call('HINCRBY', state, 'passed', 1) <= 100 then wake(1) end
end
