-- KEYS: holders. ARGV: token, its new time. Reply: 1 refreshed, 0 it is not among the holders.
-- The removal comes first: a server that is out of memory lets ZADD pass only in a script that has written before.
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
return 1
