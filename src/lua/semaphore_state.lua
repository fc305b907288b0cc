-- A fragment, in front of every semaphore script. KEYS: holders (by the end of each lease), state, wake, turn. ARGV[1]: a token.
-- State, a hash. books: in one line limit, used, fence, next (the lowest slot never given), top (of the pile of slots given
-- back, pile1..), spare (the one given back last, or -), lives (until when the holders' key does at least), watch (until when
-- somebody may wait). declared: the first limit; mark, turn: until when somebody waits for one, for several; kept: until when
-- room is kept, amount, claimant: how much and for whom; passed: how many others passed a wake-up on to it; called, since: so many were woken
-- then and have not asked yet; TOKEN:
-- 'slots|fence|label' of each holder. Times in ms. Numbers beyond 14 digits, such as a fence, are kept as text.
local holders, state = KEYS[1], KEYS[2]
local found = redis.call('HMGET', state, ARGV[1], 'books')
local own = found[1]
local limit, used, digits, next_slot, top, spare, lives, watch =
  string.match(found[2] or '0 0 0 0 0 - 0 0', '^(%d+) (%d+) (%d+) (%d+) (%d+) (%S+) (%d+) (%d+)$')
limit, used = tonumber(limit), tonumber(used)  -- the others stay text until they are counted with: that is faster
local time = redis.call('TIME')
local clock_text = time[1] .. (#time[2] == 6 and time[2] or string.sub('00000' .. time[2], -6))
local clock = tonumber(clock_text)
local now = math.floor(clock / 1000)
-- Where the state was lost: the key stays until the last of its leases ends, and nobody shortens it.
if limit == 0 then lives = redis.call('ZRANGE', holders, -1, -1, 'WITHSCORES')[2] or '0' end
local is_watched = watch ~= '0' and tonumber(watch) > now

local function text(count) return string.format('%.0f', count) end
local function books()
  return limit .. ' ' .. used .. ' ' .. digits .. ' ' .. next_slot .. ' ' .. top .. ' ' .. spare .. ' ' .. lives .. ' ' .. watch
end
local function save(...) redis.call('HSET', state, 'books', books(), ...) end
-- Nothing stays for ever: the state lives a day longer than its fence, half a day and the holders.
local function keep_state(over)
  redis.call('PEXPIREAT', state, text(math.max(over, lives, now + 43200000, digits / 1000) + 86400000))
end
