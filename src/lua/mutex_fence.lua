-- A fragment, in front of the scripts that acquire a mutex: the fence of one that was just taken.
-- after: mutex_grant.lua

-- With arithmetic: the key is new or its ttl is to be set anew, the counter is ahead of the clock, or many are reserved.
local function mint_anew(before)
  local failed = type(before) == 'table' and before
  local last = not failed and tonumber(before)
  if last and last + 8 >= fence then
    fence = last + 9  -- the counter decides
    text = string.format('%.0f', fence)
    take()
  end
  if not failed and fence + reserved >= 9007199254740992 then failed = {err = 'ERR the fence is used up'} end
  local ttl = 129600000 + math.max(0, math.ceil((fence - clock) / 1000))
  local kept = failed or redis.pcall('SET', KEYS[2], string.format('%.0f', fence + reserved - 8), 'PX', ttl)
  if not kept.err then return granted(text, reserved) end
  redis.call('DEL', KEYS[1])  -- a lock without a fence is none
  if last then redis.call('SET', KEYS[2], before, 'KEEPTTL') end  -- used up stays used up
  return kept
end
local function mint()
  if fence ~= clock or reserved ~= '8' then return mint_anew(redis.pcall('GET', KEYS[2])) end
  local before = redis.pcall('SET', KEYS[2], text, 'KEEPTTL', 'GET')
  local last = tonumber(before)
  if last and last + 8 < clock and last >= clock - clock % 43200000000 then return granted(text, reserved) end
  return mint_anew(before)
end
