-- KEYS: lock, fence. ARGV: token, label, ttl in ms, the fence proposed ('': none is wanted), the same less 8.
-- Reply: the fence (or ''): granted, and it is the largest here; {0, ms left; -1: no ttl, the holder's fence or ''} busy;
-- {2, 0, fence} granted, but the fence must be larger than that one.
-- after: quorum_fence.lua
local proposed, day = tonumber(ARGV[4]), 82800000000

-- With arithmetic: the fence key is new or its ttl is to be set anew, or the number proposed does not do. The fence key
-- lives for more than a day, so that above that age a number may be below one that was forgotten since.
local function weigh(before)
  if type(before) == 'table' then
    redis.call('DEL', KEYS[1])  -- a lock without a fence is none
    return before
  end
  local last = last_fence(before)
  if proposed > last and proposed > clock - day and proposed <= clock + 600000000 then
    store(ARGV[4])
    return ARGV[4]
  end
  if before then redis.call('SET', KEYS[2], before, 'KEEPTTL') else redis.call('DEL', KEYS[2]) end
  take('')
  return {2, 0, string.format('%.0f', last > clock - day and last or clock)}
end

if take(ARGV[4], 'NX') then
  if not proposed then return '' end
  local before = redis.pcall('SET', KEYS[2], ARGV[5], 'KEEPTTL', 'GET')
  local last = tonumber(before)
  local in_time = proposed > clock - day and proposed <= clock + 600000000
  if last and last + 8 < proposed and in_time and last >= clock - clock % 43200000000 then return ARGV[4] end
  return weigh(before)
end
local value = redis.call('GET', KEYS[1]) or ''
local had = string.match(value, '^[^|]*|(%d+)|') or ''
if string.sub(value, 1, 32) ~= ARGV[1] then return {0, redis.call('PTTL', KEYS[1]), had} end
-- A resend of what was granted already.
redis.call('PEXPIRE', KEYS[1], ARGV[3])
if had == '' and proposed then return weigh(redis.call('GET', KEYS[2])) end
return had
