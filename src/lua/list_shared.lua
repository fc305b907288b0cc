-- KEYS: see shared_state.lua. ARGV: ''. Changes nothing.
-- Reply: {mode, {'end|fence|change|label', ms left} of each holder whose time is not over}; {} if nobody holds it.
-- after: shared_state.lua
if not mode then return {} end
local reply, all = {mode}, redis.call('HGETALL', holders)
for i = 2, #all, 2 do
  local left = end_of(all[i]) - now
  if left >= 0 then reply[#reply + 1] = {all[i], left} end
end
return #reply > 1 and reply or {}
