-- A fragment, in front of every script of a readers/writer lock. KEYS: holders, state, and the wake-ups for writers, for
-- readers and for the reader that upgrades. ARGV: first the token.
-- Holders: mode, 'shared' or 'exclusive'; first: no lease ends before it; TOKEN: 'end|fence|change|label' of each,
-- change being the number of the last change of its mode.
-- State: fence, the last one; phase: the one that readers share, 0 since a writer; writers, readers, upgrade: until when
-- somebody waits; upgrader: who; TOKEN: until when that writer waits. Times in ms.
-- A number is written by text() alone: '..' would round it.
local holders, state, token = KEYS[1], KEYS[2], ARGV[1]
local mode, first, own = unpack(redis.call('HMGET', holders, 'mode', 'first', token))
local names = {'fence', 'phase', 'writers', 'readers', 'upgrade'}
local found = redis.call('HMGET', state, 'upgrader', token, unpack(names))
local upgrader, claimed, is, changed = found[1], found[2], {}, false
first = tonumber(first) or 0
for i, name in ipairs(names) do is[name] = tonumber(found[i + 2]) or 0 end
local time = redis.call('TIME')
local clock = time[1] * 1000000 + time[2]
local now = math.floor(clock / 1000)
local function text(number) return string.format('%.0f', number) end
local function end_of(value) return tonumber(string.match(value or '', '^(%d+)|')) or 0 end
-- No longer than two seconds, also where the clock was set back meanwhile.
local function waits(moment) return moment > now and moment <= now + 2000 end
