-- KEYS: see semaphore_state.lua. ARGV: the new limit, the one the caller declares. Reply: 1.
-- after: semaphore_books.lua
-- after: semaphore_wakes.lua
put_in_order(tonumber(ARGV[2]), redis.call('ZCARD', holders))
purge(10000)
limit = tonumber(ARGV[1])

-- The pile anew: what lies below the limit and below the highest slot in use, and is not in use.
local taken, highest = {}, -1
for _, token in ipairs(redis.call('ZRANGE', holders, 0, -1)) do
  for slot in slots_of(redis.call('HGET', state, token)) do
    taken[tonumber(slot)] = true
    highest = math.max(highest, tonumber(slot))
  end
end
next_slot, top, spare = math.min(limit, highest + 1), 0, '-'
for slot = next_slot - 1, 0, -1 do
  if not taken[slot] then put_aside(slot) end
end
save()
wake(100)
return 1
