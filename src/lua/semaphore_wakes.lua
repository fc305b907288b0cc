-- A fragment, in front of those semaphore scripts that may free something: who is woken.
-- after: semaphore_steps.lua

local function push(list, wanted)
  local missing = wanted - redis.call('LLEN', list)
  for _ = 1, missing do redis.call('LPUSH', list, 1) end
  if missing > 0 then redis.call('PEXPIRE', list, 2000) end
end
-- No longer than two seconds, also where the clock was set back meanwhile.
local function kept_for_others(token)
  return is.kept > now and is.kept <= now + 2000 and claimant ~= token and is.amount or 0
end
-- Wakes as many as can be served, at most so many, less those on their way. While room is kept for a big request, only
-- that one can use it.
local function wake(most)
  local free, kept = is.limit - is.used, kept_for_others('')
  if is.turn > now and free >= math.max(1, kept) then push(KEYS[4], 1) end
  if is.mark > now then push(KEYS[3], math.min(free - kept, most)) end
end
