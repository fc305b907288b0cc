-- A fragment, in front of every semaphore script. KEYS: holders (by the end of each lease), state, wake, turn.
-- State: limit, declared, used, fence; next: the lowest slot never given; top, pile1..: slots given back; mark, turn: until
-- when somebody waits for one, for several; amount, kept, claimant: what is kept free, until when, for whom; passed: how
-- many others passed a wake-up on to it; TOKEN: 'slots|fence|label' of each holder. Times in ms.
-- A number is written by text() alone: '..' would round it.
local holders, state = KEYS[1], KEYS[2]
local names = {'limit', 'declared', 'used', 'fence', 'next', 'top', 'mark', 'turn', 'amount', 'kept', 'passed', 'claimant'}
local found, is, changed = redis.call('HMGET', state, unpack(names)), {}, false
local claimant = table.remove(found) or ''
names[#names] = nil
for i, name in ipairs(names) do is[name] = tonumber(found[i]) or 0 end
local time = redis.call('TIME')
local clock = time[1] * 1000000 + time[2]
local now = math.floor(clock / 1000)
local function text(number) return string.format('%.0f', number) end
local function slots_of(value) return string.gmatch(string.match(value or '', '^[^|]*'), '%d+') end

local function pile_up(slot)
  is.top = is.top + 1
  redis.call('HSET', state, 'pile' .. text(is.top), slot)
end
-- Takes a holder out. A slot beyond a limit that was lowered is not given again.
local function drop(token)
  local removed, value = redis.call('ZREM', holders, token), redis.call('HGET', state, token)
  redis.call('HDEL', state, token)  -- always, so that the right to it is tried with the first release
  if removed == 0 and not value then return end
  local count = 0
  for slot in slots_of(value) do
    count = count + 1
    if tonumber(slot) < is.limit then pile_up(slot) end
  end
  is.used, changed = math.max(0, is.used - math.max(1, count)), true
end
