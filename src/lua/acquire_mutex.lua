-- KEYS: lock, fence, mark. ARGV: token, label, ttl in ms, floor of the fence (or ''), fences to reserve, '1' to leave the
-- mark if busy, '1' to be told of waiters. Reply: {ms left of another's lease} or {-1: it has no ttl}; {fence, waiters?}.
local now = redis.call('TIME')
local clock = now[1] * 1000000 + now[2]
local fence = clock
local floor = tonumber(ARGV[4])
if floor and floor > fence and floor <= clock + 600000000 then fence = floor end
local function granted(text) return {text, ARGV[7] == '1' and redis.call('EXISTS', KEYS[3]) or 1} end
local function take(...)
  local text = string.format('%.0f', fence)
  return redis.call('SET', KEYS[1], ARGV[1] .. '|' .. text .. '|' .. ARGV[2], 'PX', ARGV[3], ...) and text
end
-- Keeps the last fence reserved, answers the one before. A lock without a fence is none: an error undoes it.
local function keep()
  local last = fence + ARGV[5] - 1
  local ttl = 86400000 + math.max(0, math.ceil((last - clock) / 1000))
  local before = {err = 'ERR the fence is used up'}
  if last < 9007199254740992 then before = redis.pcall('SET', KEYS[2], string.format('%.0f', last), 'PX', ttl, 'GET') end
  if type(before) == 'table' then redis.call('DEL', KEYS[1]) end
  return before
end
local text = take('NX')
if not text then
  local value = redis.call('GET', KEYS[1]) or ''
  if string.sub(value, 1, 32) == ARGV[1] then
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
    return granted(string.match(value, '^[^|]*|(%d+)|'))
  end
  if ARGV[6] == '1' then redis.call('SET', KEYS[3], 1, 'PX', 2000) end
  return {redis.call('PTTL', KEYS[1])}
end
local before = keep()
if (tonumber(before) or 0) >= fence then
  local known = before
  fence = known + 1  -- the counter is ahead of the clock: it decides
  text = take()
  before = keep()
  if type(before) == 'table' then redis.call('SET', KEYS[2], known, 'KEEPTTL') end  -- used up stays used up
end
return type(before) == 'table' and before or granted(text)
