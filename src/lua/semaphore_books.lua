-- A fragment, for those semaphore scripts that write: what is put in order first, where it has to be.
-- after: semaphore_slots.lua

-- Those whose time is over, at most so many. A lease lasts to the end of its millisecond, since it began within one.
local function purge(most)
  local expired = redis.call('ZRANGEBYSCORE', holders, '-inf', '(' .. now, 'LIMIT', 0, most)
  for _, token in ipairs(expired) do
    redis.call('ZREM', holders, token)
    take_back(redis.call('HGET', state, token))
    redis.call('HDEL', state, token)
  end
  -- With its last member goes the key, and its ttl: the next one must set it anew.
  if #expired > 0 and redis.call('ZCARD', holders) == 0 then lives = 0 end
end
-- Where nobody is left but by the server's own expiry or a flush, the slots begin anew; limit and fence stay. Where it is the
-- state that was lost, those who hold are counted.
local function put_in_order(asked, card)
  if card == 0 and used > 0 then
    local kept = redis.call('HMGET', state, 'declared', 'mark', 'turn')
    redis.call('DEL', state)
    used, next_slot, top, spare, lives, own = 0, 0, 0, '-', 0, false
    save('declared', kept[1] or limit, 'mark', kept[2] or 0, 'turn', kept[3] or 0)
    keep_state(now)
  elseif limit == 0 then
    limit, used, next_slot = asked, card, card
    save('declared', asked)
    keep_state(now)
  end
end
