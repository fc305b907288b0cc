-- KEYS: lock, mark. ARGV: token, label, ttl in ms, '1' to leave the mark if busy.
-- Reply: {ms left of another's lease} or {-1: a lock without ttl}; or {'', '1' if somebody waits}.
if not redis.call('SET', KEYS[1], ARGV[1] .. '||' .. ARGV[2], 'NX', 'PX', ARGV[3]) then
  if string.sub(redis.call('GET', KEYS[1]) or '', 1, 32) ~= ARGV[1] then
    if ARGV[4] == '1' then redis.call('SET', KEYS[2], 1, 'PX', 2000) end
    return {redis.call('PTTL', KEYS[1])}
  end
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return {'', redis.call('EXISTS', KEYS[2])}
