-- A fragment, for those semaphore scripts that write: slots that come back.
-- after: semaphore_state.lua

local function put_aside(slot)
  if spare ~= '-' then
    top = top + 1
    redis.call('HSET', state, 'pile' .. top, spare)
  end
  spare = slot
end
local function slots_of(value) return string.gmatch(string.match(value or '', '^[^|]*'), '%d+') end
-- A slot beyond a limit that was lowered is not given again.
local function take_back(value)
  local count = 0
  for slot in slots_of(value) do
    count = count + 1
    if tonumber(slot) < limit then put_aside(slot) end
  end
  used = math.max(0, used - math.max(1, count))
end
