-- KEYS: the locks, their wakes, marks and fences. ARGV: token, label, ttl in ms, floor of the fence (or ''), '1' to leave a mark
-- at the busy name, which name was waited for (0: none). Reply: {which name is busy, ms left; -1: no ttl} or {fence}.
-- after: multi_wakes.lua
local time = redis.call('TIME')
local clock = time[1] * 1000000 + time[2]
local busy, own, first, same, free = nil, {}, nil, true, {}
if redis.call('EXISTS', unpack(KEYS, 1, names)) > 0 then
  for name = 1, names do
    local value = redis.call('GET', KEYS[name])
    if not value then free[name] = true
    elseif not is_own(value) then busy = busy or name
    else
      own[#own + 1] = name
      first = first or value
      same = same and value == first
    end
  end
end
if busy then
  -- Nothing is held in part: not what is left of an earlier sending, nor a wake-up that another can use.
  for _, name in ipairs(own) do redis.call('DEL', KEYS[name]) wake(name) end
  if free[tonumber(ARGV[6])] then wake(tonumber(ARGV[6])) end
  if ARGV[5] == '1' then redis.call('SET', KEYS[2 * names + busy], 1, 'PX', 2000) end
  return {busy, redis.call('PTTL', KEYS[busy])}
end
if #own == names and same then
  for name = 1, names do redis.call('PEXPIRE', KEYS[name], ARGV[3]) end
  return {string.match(first, '^[^|]*|(%d+)|')}
end
local fence, floor = clock, tonumber(ARGV[4])
if floor and floor > clock and floor <= clock + 600000000 then fence = floor end
-- The last one may be 8 larger than what is kept: see mutex_grant.lua.
for name = 1, names do fence = math.max(fence, (tonumber(redis.call('GET', KEYS[3 * names + name])) or 0) + 9) end
if fence >= 9007199254740992 then return {err = 'ERR the fence is used up'} end
local text, ttl = string.format('%.0f', fence), 129600000 + math.max(0, math.ceil((fence - clock) / 1000))
for name = 1, names do
  redis.call('SET', KEYS[3 * names + name], text, 'PX', ttl)
  redis.call('SET', KEYS[name], token .. '|' .. text .. '|' .. ARGV[2], 'PX', ARGV[3])
end
return {text}
