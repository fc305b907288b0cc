-- KEYS: see semaphore_state.lua. ARGV: the new limit, the one the caller declares. Reply: 1.
-- after: semaphore_wakes.lua
purge(10000)
if is.limit == 0 then is.declared = tonumber(ARGV[2]) end
is.limit = tonumber(ARGV[1])

-- The pile anew: what lies below the limit and below the highest slot in use, and is not in use.
local taken, highest = {}, -1
for _, token in ipairs(redis.call('ZRANGE', holders, 0, -1)) do
  for slot in slots_of(redis.call('HGET', state, token)) do
    taken[slot] = true
    highest = math.max(highest, tonumber(slot))
  end
end
is.next, is.top = math.min(is.limit, highest + 1), 0
for slot = is.next - 1, 0, -1 do
  if not taken[text(slot)] then pile_up(text(slot)) end
end
wake(100)
save()
return 1
