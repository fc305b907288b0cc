-- A fragment, in front of those scripts of a readers/writer lock that may free something: who waits, and who is woken.
-- after: shared_steps.lua
-- after: push.lua

-- Until when writers wait, anew from what each of them said; those who said nothing for two seconds are forgotten.
local function hear_writers()
  local all = redis.call('HGETALL', state)
  is.writers = 0
  for i = 1, #all, 2 do
    local moment = #all[i] == 32 and tonumber(all[i + 1])
    if moment and waits(moment) then is.writers = math.max(is.writers, moment)
    elseif moment then redis.call('HDEL', state, all[i]) end
  end
end
-- A waiter says that it is there: a writer that waits, and a reader that waits to upgrade, keep new readers out.
local function claim(role)
  if role == 'writers' and is.writers > 0 and not waits(is.writers) then hear_writers() end
  is[role], changed = now + 2000, true
  if role == 'writers' then redis.call('HSET', state, token, text(is.writers)) end
  if role == 'upgrade' then redis.call('HSET', state, 'upgrader', token) end
end
-- It waits no longer. What others said stays.
local function unclaim()
  if upgrader == token and is.upgrade > 0 then is.upgrade, changed = 0, true end
  if not claimed then return end
  redis.call('HDEL', state, token)
  changed = true
  if tonumber(claimed) >= is.writers then hear_writers() end
end

-- One that is next and can enter; of readers two, and each that enters wakes on.
local function wake()
  local count = mode and redis.call('HLEN', holders) - 2 or 0
  if waits(is.upgrade) and count > 0 then
    if count == 1 then push(KEYS[5], 1) end
  elseif waits(is.writers) then
    if count == 0 then push(KEYS[3], 1) end
  elseif waits(is.readers) and mode ~= 'exclusive' then push(KEYS[4], 2) end
end
