-- A fragment, for scripts that wake waiters: so many wake-ups in a list, with those that lie there. They are hints: two
-- seconds later nobody sleeps for them any more.
local function push(list, wanted)
  local missing = wanted - redis.call('LLEN', list)
  for _ = 1, missing do redis.call('LPUSH', list, 1) end
  if missing > 0 then redis.call('PEXPIRE', list, 2000) end
end
