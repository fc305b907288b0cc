-- A fragment, in front of the scripts that take or free several names. KEYS: the locks, then their wakes, then their marks.
-- ARGV: token. Those that take something have more arguments, and a fourth kind of keys.
local token, names = ARGV[1], #KEYS / (#ARGV > 1 and 4 or 3)
local function is_own(value) return type(value) == 'string' and string.sub(value, 1, 32) == token end

-- Wakes one who waits for this name.
local function wake(name)
  if redis.call('EXISTS', KEYS[2 * names + name]) == 1 and redis.call('LLEN', KEYS[names + name]) == 0 then
    redis.call('LPUSH', KEYS[names + name], 1)
    redis.call('PEXPIRE', KEYS[names + name], 2000)
  end
end
