-- A fragment, in front of the scripts that acquire permits. ARGV: token, label, ttl in ms, floor of the fence (or ''), limit,
-- how many, '1' to wait, '2' having waited. Another limit is refused here.
-- after: semaphore_take.lua
local token, asked, weight = ARGV[1], tonumber(ARGV[5]), tonumber(ARGV[6])
if limit ~= asked and limit > 0 then
  local declared = tonumber(redis.call('HGET', state, 'declared'))
  if asked ~= declared then return {'limit', limit, declared or limit} end
end
local card = redis.call('ZCARD', holders)

local function grant()
  local over = math.min(now + ARGV[3], 99999999999999)
  local minted, floor = math.max(digits + 1, clock), tonumber(ARGV[4])
  if floor and floor > minted and floor <= clock + 600000000 then minted = floor end
  if minted >= 9007199254740992 then save() return {err = 'ERR the fence is used up'} end
  -- The ttl of the state is set anew twice a day, or more often where fence or lease reach far.
  local is_due = minted > clock + 1000000 or tonumber(digits) < clock - clock % 43200000000 or over > now + 86400000
  redis.call('ZADD', holders, over, token)
  local outlives = card == 0 or over > tonumber(lives)
  if outlives then lives = over + 60000 end
  local slots, mine
  if own then
    slots, mine = string.match(own, '^([^|]*)|(%d+)')
  else
    mine, slots = minted == clock and clock_text or text(minted), take()
    for _ = 2, weight do slots = slots .. ',' .. take() end
    own, digits, used = slots .. '|' .. mine .. '|' .. ARGV[2], mine, used + weight
  end
  local failure = redis.pcall('HSET', state, 'books', books(), token, own)
  if type(failure) == 'table' then
    redis.call('ZREM', holders, token)
    return failure
  end
  if outlives then redis.call('PEXPIREAT', holders, lives) end
  if is_due then keep_state(over) end
  return {'' .. slots, mine}
end
