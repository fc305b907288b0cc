-- KEYS: see semaphore_state.lua. ARGV: the declared limit, '1' to list the holders.
-- Reply: {how many are free, {'slots|fence|label', ms left} of each holder if asked for}. Expired holders are removed first.
-- after: semaphore_books.lua
if limit > 0 then
  put_in_order(limit, redis.call('ZCARD', holders))
  purge(10000)
  save()
end
local reply = {math.max(0, (limit > 0 and limit or ARGV[1]) - (limit > 0 and used or redis.call('ZCARD', holders)))}
if ARGV[2] == '1' then
  local list = redis.call('ZRANGE', holders, 0, -1, 'WITHSCORES')
  for i = 1, #list, 2 do
    reply[#reply + 1] = {redis.call('HGET', state, list[i]) or '', math.max(0, list[i + 1] - now)}
  end
end
return reply
