-- KEYS: the locks, their wakes, their marks. ARGV: token. Reply: 1 all were ours and are free, 0 one was gone, -1 one is
-- another owner's, or holds something foreign; the others are freed in any case.
-- Wakes one waiter of each that is free now. A waiter that gives up runs it too: see release_mutex.lua.
-- after: multi_wakes.lua
local worst = 1
for name = 1, names do
  local value = redis.pcall('GET', KEYS[name])
  if type(value) == 'table' and not string.find(value.err, '^WRONGTYPE') then return value end
  if value and not is_own(value) then worst = -1
  else
    worst = math.min(worst, redis.call('DEL', KEYS[name]))
    wake(name)
  end
end
return worst
