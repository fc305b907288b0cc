-- A fragment, in front of the script that acquires: what a grant takes, and what a big request in vain leaves behind.
-- after: semaphore_wakes.lua

-- Numbers for so many, those given back last first. Writes nothing: save() keeps it.
local function take(count)
  local slots = {}
  for i = 1, count do
    if is.top > 0 then
      slots[i] = redis.call('HGET', state, 'pile' .. text(is.top))
      is.top = is.top - 1
    else
      slots[i] = text(is.next)
      is.next = is.next + 1
    end
  end
  return table.concat(slots, ',')
end

-- A waiter is woken by whoever gives something back in the next two seconds. One that wants several has room kept for it,
-- so that those who want one do not get in front of it for ever; one that wants more than there is, has not.
local function claim(token, weight)
  if weight > is.limit then return end
  changed = true
  if weight == 1 then
    is.mark = now + 2000
    return
  end
  is.turn = now + 2000
  if kept_for_others(token) > 0 then return end
  is.amount, is.kept, is.passed = weight, now + 2000, 0
  redis.call('HSET', state, 'claimant', token)
end

-- It may have been woken by what was meant for the one room is kept for: that one is next in the list, unless it died - then
-- this stops.
local function pass_on()
  if is.passed >= 100 then return end
  is.passed, changed = is.passed + 1, true
  wake(1)
end
