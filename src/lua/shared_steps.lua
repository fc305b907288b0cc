-- A fragment, in front of those scripts of a readers/writer lock that write: a holder's entry, and how long all is kept.
-- after: shared_purge.lua

-- Nothing stays for ever: the state goes a day after its last use, or with its fence, and not before the holders.
local function keep(over)
  local ahead = math.max(0, math.ceil((is.fence - clock) / 1000))
  local last = math.max(over, now + math.max(0, redis.call('PTTL', holders))) + 1000
  redis.call('PEXPIRE', state, text(math.max(last, now + 86400000 + ahead) - now))
end
local function save()
  if not changed then return end
  local all = {}
  for _, name in ipairs(names) do
    all[#all + 1] = name
    all[#all + 1] = text(is[name])
  end
  redis.call('HSET', state, unpack(all))
end

-- Among the holders, or there with another time or in another mode. They go with the last of them.
local function enter(how, over, fence, change, label)
  local earliest = mode and math.min(first, over) or over
  local value = table.concat({text(over), fence, change, label}, '|')
  redis.call('HSET', holders, 'mode', how, 'first', text(earliest), token, value)
  mode, first = how, earliest
  -- From now on, not until then: a millisecond that passed meanwhile would end a short one at once.
  if redis.call('PTTL', holders) < over - now then redis.call('PEXPIRE', holders, text(over - now)) end
end
-- Of its own entry: fence, change, label.
local function entry() return string.match(own, '^%d+|(%d+)|(%d+)|(.*)$') end

-- A number for a writer, or for the readers from now on: no smaller than the clock, and than the floor unless that runs too
-- far ahead. Returns an error if there is none.
local function mint(how, floor)
  local fence, least = math.max(is.fence + 1, clock), tonumber(floor)
  if least and least > fence and least <= clock + 600000000 then fence = least end
  if fence >= 9007199254740992 then return {err = 'ERR the fence is used up'} end
  is.fence, is.phase, changed = fence, how == 'shared' and fence or 0, true
end
