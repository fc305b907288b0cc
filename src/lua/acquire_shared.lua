-- KEYS: see shared_state.lua. ARGV: token, label, ttl in ms, floor of the fence (or ''), 'shared' or 'exclusive', '1' to
-- wait. Reply: the fence, as text; or a number: ms until somebody's lease ends, or until who goes first is taken for dead.
-- after: shared_wakes.lua
purge()
local held = redis.call('EXISTS', holders) == 1
if held ~= (mode and true or false) then return {err = 'WRONGTYPE the hash is not of a readers/writer lock'} end

local how, busy = ARGV[5], nil
if not own then
  if mode and (how == 'exclusive' or mode == 'exclusive') then busy = first
  elseif how == 'shared' then
    for _, moment in ipairs({is.writers, is.upgrade}) do
      if waits(moment) then busy = math.max(busy or 0, moment) end
    end
  end
end
if busy then
  if ARGV[6] == '1' then claim(how == 'shared' and 'readers' or 'writers') end
  if changed then
    save()
    keep(0)
  end
  wake()
  return math.max(1, busy - now)
end

if not own and (how == 'exclusive' or is.phase == 0) then
  local failure = mint(how, ARGV[4])
  if failure then return failure end
end
local fence, change = text(how == 'shared' and is.phase or is.fence), '0'
if own then fence, change = entry() end
local over = math.min(now + ARGV[3], 9007199254740991)
if how == 'exclusive' then unclaim() end
save()
enter(own and mode or how, over, fence, change, ARGV[2])
keep(over)
if how == 'exclusive' then redis.call('DEL', KEYS[3], KEYS[4], KEYS[5]) else wake() end
return fence
