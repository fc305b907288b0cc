-- A fragment, for those semaphore scripts that may free something: who is woken.
-- after: push.lua

local waits = redis.call('HMGET', state, 'claimant', 'mark', 'turn', 'kept', 'amount', 'called', 'since')
local claimant = waits[1]
local function count(i) return tonumber(waits[i] or 0) end
local mark, turn, kept, amount, called, since = count(2), count(3), count(4), count(5), count(6), count(7)
-- Who was called up and has not asked after this time is taken for dead.
if now < since or now > since + 20 then called = 0 end
local function call_up(more)
  if called == 0 then since = now end
  called = math.max(0, called + more)
  redis.call('HSET', state, 'called', called, 'since', since)
end
-- No longer than two seconds, also where the clock was set back meanwhile.
local function kept_for_others(token) return kept > now and kept <= now + 2000 and claimant ~= token and amount or 0 end
local function give_up_claim(token)
  if claimant ~= token or kept == 0 then return end
  kept = 0
  redis.call('HSET', state, 'kept', 0)
end
-- Wakes as many as can be served, at most so many, less those on their way: in the list, or woken and about to ask. While
-- room is kept for a big request, only that one can use it.
local function wake(most)
  local free, room = limit - used, kept_for_others('')
  if turn > now and free >= math.max(1, room) then push(KEYS[4], 1) end
  if mark <= now then return end
  local asleep = redis.call('LLEN', KEYS[3])
  local more = math.min(free - room - math.max(called, asleep), most)
  if more <= 0 then return end
  push(KEYS[3], asleep + more)
  call_up(more)
end
