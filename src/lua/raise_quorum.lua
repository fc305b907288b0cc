-- KEYS: lock, fence. ARGV: token, label, ttl in ms, fence.
-- Reply: 1 it is ours and the fence is the largest here, 0 it is not ours or the fence is too small.
-- Strictly smaller is the word that keeps two holders from the same number.
-- after: quorum_fence.lua
local value = redis.call('GET', KEYS[1])
if not value or string.sub(value, 1, 32) ~= ARGV[1] then return 0 end
-- A resend of what was done already.
if string.match(value, '^[^|]*|(%d+)|') == ARGV[4] then return 1 end
local fence = tonumber(ARGV[4])
if fence <= last_fence(redis.call('GET', KEYS[2])) then return 0 end
if fence >= 9007199254740992 then return redis.error_reply('ERR the fence is used up') end
store(ARGV[4])
return 1
