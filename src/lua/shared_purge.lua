-- A fragment, in front of those scripts of a readers/writer lock that write: who has expired.
-- after: shared_state.lua

-- Takes out those whose time is over; a time lasts to the end of its millisecond, as that of a key. Looks at all only when
-- one of them may be over: renewals leave `first` behind.
local function purge()
  if not mode or first >= now then return end
  local all = redis.call('HGETALL', holders)
  first = math.huge
  for i = 1, #all, 2 do
    local over = end_of(all[i + 1])
    if over >= now then
      first = math.min(first, over)
    elseif over > 0 then
      redis.call('HDEL', holders, all[i])
      if all[i] == token then own = false end
      if all[i] == upgrader then is.upgrade, changed = 0, true end
    end
  end
  if first < math.huge then return redis.call('HSET', holders, 'first', text(first)) end
  redis.call('DEL', holders)
  mode = false
end
