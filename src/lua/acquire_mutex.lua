-- KEYS, ARGV: see mutex_grant.lua; the third key is the mark of a waiter.
-- Reply: {ms left; -1: no ttl}; {fence, waiters?, reserved} or just the fence: 8 are reserved.
-- after: mutex_fence.lua
if take('NX') then return mint() end
local value = redis.call('GET', KEYS[1]) or ''
if string.sub(value, 1, 32) == ARGV[1] then return granted_again(value) end
if ARGV[6] == '1' then redis.call('SET', KEYS[3], 1, 'PX', 2000) end
return {redis.call('PTTL', KEYS[1])}
