-- A fragment, in front of those semaphore scripts that write: who has expired, and how the state is kept.
-- after: semaphore_state.lua

-- Takes out those whose time is over, at most so many. Where nobody is left but by the server's own expiry or a flush, the
-- slots begin anew; limit and fence stay. Where it is the state that was lost, those who hold are counted.
local function purge(most)
  local over = redis.call('ZRANGEBYSCORE', holders, '-inf', text(now), 'LIMIT', 0, most)
  for _, token in ipairs(over) do drop(token) end
  local card = redis.call('ZCARD', holders)
  if card == 0 and (is.used > 0 or is.next ~= is.top) then
    redis.call('DEL', state)
    is.used, is.next, is.top, is.kept, changed = 0, 0, 0, 0, true
  end
  if is.limit == 0 then is.used, is.next = card, card end
end

-- Nothing stays for ever: the holders go a second after the last of them, the state a day later or with its fence.
local function keep()
  local last = redis.call('ZREVRANGE', holders, 0, 0, 'WITHSCORES')[2]
  local over = (tonumber(last) or 0) + 1000
  if last then redis.call('PEXPIREAT', holders, text(over)) end
  local ahead = math.max(0, math.ceil((is.fence - clock) / 1000))
  redis.call('PEXPIREAT', state, text(math.max(over, now + 86400000 + ahead)))
end
local function save()
  if is.limit == 0 then return end  -- lost, while somebody holds: the next acquirer says what it is
  local all = {}
  for _, name in ipairs(names) do
    all[#all + 1] = name
    all[#all + 1] = text(is[name])
  end
  redis.call('HSET', state, unpack(all))
  keep()
end
