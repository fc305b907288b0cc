-- A fragment, in front of the scripts of a quorum that store a fence. KEYS: lock, fence. ARGV: token, label, ttl in ms.
-- The fence key holds the last fence less 8, as with a mutex, which reserves 8. Its ttl is set anew once in 12 hours.
local now = redis.call('TIME')
local clock = now[1] * 1000000 + now[2]
local function last_fence(stored)
  local last = tonumber(stored or '')
  return last and last + 8 or 0
end
local function take(fence, ...)
  return redis.call('SET', KEYS[1], ARGV[1] .. '|' .. fence .. '|' .. ARGV[2], 'PX', ARGV[3], ...)
end
-- The fence first: if there is no memory for it, there is no lock without.
local function store(fence)
  local ttl = 129600000 + math.max(0, math.ceil((fence - clock) / 1000))
  redis.call('SET', KEYS[2], string.format('%.0f', fence - 8), 'PX', ttl)
  take(fence)
end
