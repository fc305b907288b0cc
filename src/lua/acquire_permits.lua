-- KEYS: see semaphore_state.lua. ARGV: token, label, ttl in ms, floor of the fence (or ''), limit, how many, '1' to wait.
-- Reply: {slots, fence}; {ms until the first holder's end}; {'limit', the one in force, the one declared}.
-- after: semaphore_grants.lua
local token, asked, weight = ARGV[1], tonumber(ARGV[5]), tonumber(ARGV[6])
if is.limit > 0 and asked ~= is.limit and asked ~= is.declared then return {'limit', is.limit, is.declared} end
purge(100)
if is.limit == 0 then is.limit, is.declared = asked, asked end

local score = text(math.min(now + ARGV[3], 9007199254739991))
local own = redis.call('HGET', state, token)
local kept = kept_for_others(token)
if not own and is.used + weight + kept > is.limit then
  if ARGV[7] == '1' then claim(token, weight) end
  if kept > 0 and weight > 1 then pass_on() end
  if changed then save() end
  local first = redis.call('ZRANGE', holders, 0, 0, 'WITHSCORES')[2]
  return {first and math.max(1, first - now) or 1000}
end

local fence = math.max(is.fence + 1, clock)
local floor = tonumber(ARGV[4])
if floor and floor > fence and floor <= clock + 600000000 then fence = floor end
if fence >= 9007199254740992 then return {err = 'ERR the fence is used up'} end
redis.call('ZADD', holders, score, token)
if not own then
  own = take(weight) .. '|' .. text(fence) .. '|' .. ARGV[2]
  local kept_it = redis.pcall('HSET', state, token, own)
  if type(kept_it) == 'table' then redis.call('ZREM', holders, token) return kept_it end
  is.used, is.fence = is.used + weight, fence
end
if claimant == token then is.kept = 0 end
save()
wake(1)
return {string.match(own, '^([^|]*)|(%d+)')}
