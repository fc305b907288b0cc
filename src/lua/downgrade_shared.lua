-- KEYS: see shared_state.lua. ARGV: token, floor of the fence (or ''), number of this change, '1' to be told the fence.
-- Makes the writer a reader. What comes after a change with a larger number is late, and does nothing.
-- Reply: its fence, as text, or -1: it holds nothing. Not to be told is to undo an upgrade, granted or waited for: 1 undone,
-- 0 there was none.
-- after: shared_wakes.lua
purge()
local fence, change, label
if end_of(own) >= now then fence, change, label = entry() end
if change and tonumber(ARGV[3]) < tonumber(change) then return ARGV[4] == '1' and -1 or 0 end
local asks, writes = upgrader == token and is.upgrade > 0, change and mode == 'exclusive'
if writes then
  local failure = mint('shared', ARGV[2])
  if failure then return failure end
  fence = text(is.fence)
end
unclaim()
save()
if change then enter('shared', end_of(own), fence, ARGV[3], label) end
keep(0)
wake()
if ARGV[4] == '1' then return fence or -1 end
return (writes or asks) and 1 or 0
