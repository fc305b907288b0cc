-- A fragment, in front of the scripts that acquire a mutex. KEYS: lock, fence, what exists while somebody waits. ARGV: token,
-- label, ttl in ms, floor of the fence (or ''), fences to reserve beyond the first, '1' to wait, '1' to be told of waiters.
-- The fence key holds the last fence reserved, less 8: where 8 are reserved, that is the first one, whose digits are known.
-- Its ttl is set anew once in 12 hours.
local now = redis.call('TIME')
local text = now[1] .. (#now[2] == 6 and now[2] or string.sub('00000' .. now[2], -6))
local clock, floor, reserved = tonumber(text), tonumber(ARGV[4]), ARGV[5]
local fence = clock
if floor and floor > clock and floor <= clock + 600000000 then fence, text = floor, string.format('%.0f', floor) end

-- Just the fence: 8 are reserved, and waiters were not asked about.
local function granted(first, more)
  if more == '8' and ARGV[7] ~= '1' then return first end
  return {first, ARGV[7] == '1' and redis.call('EXISTS', KEYS[3]) or 1, more}
end
-- A resend of what was granted already.
local function granted_again(value)
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return granted(string.match(value, '^[^|]*|(%d+)|'), '0')
end
local function take(...)
  return redis.call('SET', KEYS[1], ARGV[1] .. '|' .. text .. '|' .. ARGV[2], 'PX', ARGV[3], ...)
end
