-- KEYS: lock, fence, queue, seen, wake. ARGV: see mutex_grant.lua; then the waiter lease in ms.
-- Reply: as acquire_mutex.lua; who is not the first in line is told for how long that one is taken for alive.
-- after: mutex_fence.lua
-- after: queue.lua
local value = redis.call('GET', KEYS[1])
if string.sub(value or '', 1, 32) == ARGV[1] then return granted_again(value) end
local first = first_in_line()
local is_my_turn = (first or ARGV[1]) == ARGV[1]
if is_my_turn and not value then
  if first then leave_line(first) end
  take()
  return mint()
end
if ARGV[6] == '1' then line_up(ARGV[1], ARGV[8]) end
return {is_my_turn and redis.call('PTTL', KEYS[1]) or redis.call('PTTL', seen(first))}
