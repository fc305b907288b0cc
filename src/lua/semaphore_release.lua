-- A fragment, in front of the scripts that release permits. ARGV: token.
-- after: semaphore_slots.lua
local score = tonumber(redis.call('ZSCORE', holders, ARGV[1]) or 0)
-- Also of one that holds nothing, so that the right to each command is tried with the first release.
redis.call('ZREM', holders, ARGV[1])
redis.call('HDEL', state, ARGV[1])
if own or score > 0 then take_back(own) else keep_state(now) end
if limit > 0 then save() end  -- 0: lost, while somebody holds; the next acquirer says what it is
