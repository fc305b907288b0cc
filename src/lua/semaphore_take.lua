-- A fragment, for the scripts that acquire permits: a slot on its way out.
-- after: semaphore_state.lua

-- The one given back last, or the lowest that never was given.
local function take()
  local slot = spare
  if slot == '-' then
    next_slot = next_slot + 1
    return next_slot - 1
  end
  spare = '-'
  if tonumber(top) > 0 then
    spare, top = redis.call('HGET', state, 'pile' .. top), top - 1
  end
  return slot
end
