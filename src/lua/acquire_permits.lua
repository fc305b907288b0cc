-- KEYS: see semaphore_state.lua. ARGV: see semaphore_grant.lua.
-- Reply: {slots, fence}; {ms until the first holder's end}; {'limit', the one in force, the one declared}.
-- after: semaphore_quick.lua
-- after: semaphore_books.lua
-- after: semaphore_claims.lua
put_in_order(asked, card)
if ARGV[7] == '2' and weight == 1 and called > 0 then call_up(-1) end
local room = limit - kept_for_others(token) - weight
if not own and used > room then purge(100) end
if own or used <= room then
  give_up_claim(token)
  local reply = grant()
  wake(1)
  return reply
end
if ARGV[7] ~= '0' then claim(token, weight) end
save()
if room + weight < limit and weight > 1 then pass_on() end
local first = redis.call('ZRANGE', holders, 0, 0, 'WITHSCORES')[2]
return {first and math.max(1, first - now) or 1000}
