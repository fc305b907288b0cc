-- KEYS: see semaphore_state.lua; then queue, seen, wake. ARGV: see semaphore_grant.lua; then the waiter lease in ms.
-- Reply: as acquire_permits.lua; who is not the first in line is told for how long that one is taken for alive.
-- after: semaphore_grant.lua
-- after: semaphore_books.lua
-- after: queue.lua
put_in_order(asked, card)
local first = first_in_line()
local is_my_turn = (first or token) == token
if not own and used + weight > limit then purge(100) end
if own or (is_my_turn and used + weight <= limit) then
  if first == token then
    leave_line(token)
    first = first_in_line()
  end
  local reply = grant()
  if first and used < limit then call_up(first) end
  return reply
end
-- One that wants more than there is would hold up all behind it.
if weight > limit then leave_line(token) elseif ARGV[7] == '1' then line_up(token, ARGV[8]) end
save()
if not is_my_turn then return {redis.call('PTTL', seen(first))} end
local next_end = redis.call('ZRANGE', holders, 0, 0, 'WITHSCORES')[2]
return {next_end and math.max(1, next_end - now) or 1000}
