-- KEYS: the locks. ARGV: token, ttl in ms. Reply: 1 the ttl of all is set; else nothing was changed, and at least one of them
-- is another owner's (-1) or gone (0).
local worst = 1
for _, lock in ipairs(KEYS) do
  local value = redis.call('GET', lock)
  if not value then worst = math.min(worst, 0)
  elseif string.sub(value, 1, 32) ~= ARGV[1] then worst = -1 end
end
if worst < 1 then return worst end
for _, lock in ipairs(KEYS) do redis.call('PEXPIRE', lock, ARGV[2]) end
return 1
