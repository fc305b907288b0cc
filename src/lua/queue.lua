-- A fragment, in front of scripts that keep a line of waiters. The last three KEYS: queue, a sorted set of tokens by number;
-- seen and wake, the beginnings of two keys of each waiter: seen:TOKEN lives for its waiter lease after it was heard of,
-- wake:TOKEN is the list on which it sleeps.
-- Who arrives gets the next number, whatever any clock says; who is not heard of for its waiter lease is out.
local queue = KEYS[#KEYS - 2]
local function seen(token) return KEYS[#KEYS - 1] .. ':' .. token end
local function wake(token) return KEYS[#KEYS] .. ':' .. token end

-- With a wake-up it did not need: it asked by itself before it came.
local function leave_line(token)
  redis.call('ZREM', queue, token)
  redis.call('DEL', seen(token), wake(token))
end
local function first_in_line()
  while true do
    local token = redis.call('ZRANGE', queue, 0, 0)[1]
    if not token or redis.call('EXISTS', seen(token)) == 1 then return token end
    leave_line(token)
  end
end
-- At the end, or where it stands already.
local function line_up(token, lease)
  if not redis.call('ZSCORE', queue, token) then
    redis.call('ZADD', queue, (redis.call('ZREVRANGE', queue, 0, 0, 'WITHSCORES')[2] or 0) + 1, token)
  end
  redis.call('SET', seen(token), 1, 'PX', lease)
  redis.call('PEXPIRE', queue, 120000)
end
local function call_up(token)
  if redis.call('LLEN', wake(token)) == 0 then redis.call('LPUSH', wake(token), 1) end
  redis.call('PEXPIRE', wake(token), 2000)
end
