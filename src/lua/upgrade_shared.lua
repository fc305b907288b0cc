-- KEYS: see shared_state.lua. ARGV: token, floor of the fence (or ''), number of this change, '1' to wait. Makes the only
-- reader the writer. What comes after a change with a larger number is late, and does nothing.
-- Reply: its fence, as text; or a number: ms until somebody's lease ends, 0 another waits to upgrade, -1 it holds nothing.
-- after: shared_wakes.lua
purge()
if end_of(own) < now then return -1 end
local fence, change, label = entry()
if tonumber(ARGV[3]) < tonumber(change) then return -1 end
if mode == 'exclusive' then
  enter(mode, end_of(own), fence, ARGV[3], label)
  return fence
end
if waits(is.upgrade) and upgrader ~= token then return 0 end
if redis.call('HLEN', holders) > 3 then
  if ARGV[4] == '1' then claim('upgrade') end
  save()
  keep(0)
  return math.max(1, first - now)
end

local failure = mint('exclusive', ARGV[2])
if failure then return failure end
unclaim()
save()
enter('exclusive', end_of(own), text(is.fence), ARGV[3], label)
keep(0)
redis.call('DEL', KEYS[3], KEYS[4], KEYS[5])
return text(is.fence)
