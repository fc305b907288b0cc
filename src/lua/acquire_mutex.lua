-- KEYS: lock, fence, mark. ARGV: token, label, ttl in ms, floor of the fence (or ''), fences to reserve beyond the first,
-- '1' to leave the mark if busy, '1' to be told of waiters. Reply: {ms left; -1: no ttl} or {fence, waiters?, reserved}.
local now = redis.call('TIME')
local text = now[1] .. string.sub('00000' .. now[2], -6)
local clock = tonumber(text)
local fence, floor = clock, tonumber(ARGV[4])
local function set_fence(number) fence, text = number, string.format('%.0f', number) end
if floor and floor > clock and floor <= clock + 600000000 then set_fence(floor) end
local function granted(first, reserved) return {first, ARGV[7] == '1' and redis.call('EXISTS', KEYS[3]) or 1, reserved} end
local function take(...)
  return redis.call('SET', KEYS[1], ARGV[1] .. '|' .. text .. '|' .. ARGV[2], 'PX', ARGV[3], ...)
end
-- Keeps the last fence reserved, answers the one before. A lock without a fence is none: an error undoes it.
local function keep()
  local last, before = fence + ARGV[5], {err = 'ERR the fence is used up'}
  local digits = fence == clock and now[2] + ARGV[5] < 1000000 and now[1] .. string.sub('00000' .. now[2] + ARGV[5], -6)
    or string.format('%.0f', last)  -- slower
  local ttl = 86400000 + math.ceil((last - clock) / 1000)
  if last < 9007199254740992 then before = redis.pcall('SET', KEYS[2], digits, 'PX', ttl, 'GET') end
  if type(before) == 'table' then redis.call('DEL', KEYS[1]) end
  return before
end
if not take('NX') then
  local value = redis.call('GET', KEYS[1]) or ''
  if string.sub(value, 1, 32) ~= ARGV[1] then
    if ARGV[6] == '1' then redis.call('SET', KEYS[3], 1, 'PX', 2000) end
    return {redis.call('PTTL', KEYS[1])}
  end
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return granted(string.match(value, '^[^|]*|(%d+)|'), '0')
end
local before = keep()
if (tonumber(before) or 0) >= fence then
  local known = before
  set_fence(known + 1)  -- the counter is ahead of the clock: it decides
  take()
  before = keep()
  if type(before) == 'table' then redis.call('SET', KEYS[2], known, 'KEEPTTL') end  -- used up stays used up
end
return type(before) == 'table' and before or granted(text, ARGV[5])
