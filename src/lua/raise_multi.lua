-- KEYS: the locks, their wakes, their marks, their fences. ARGV: token, label, fence.
-- Reply: 1 they have this fence now; 0 one of them is not ours any more, or has had a larger one.
-- after: multi_wakes.lua
local fence = tonumber(ARGV[3])
for name = 1, names do
  if not is_own(redis.call('GET', KEYS[name])) then return 0 end
  if (tonumber(redis.call('GET', KEYS[3 * names + name])) or 0) > fence then return 0 end
end
local time = redis.call('TIME')
local ttl = 129600000 + math.max(0, math.ceil((fence - (time[1] * 1000000 + time[2])) / 1000))
for name = 1, names do
  redis.call('SET', KEYS[3 * names + name], ARGV[3], 'PX', ttl)
  redis.call('SET', KEYS[name], token .. '|' .. ARGV[3] .. '|' .. ARGV[2], 'KEEPTTL')
end
return 1
