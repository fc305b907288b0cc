-- KEYS: market, the seller's inventory. ARGV: item, market member, price. Reply: 1 listed, 0 it is not in the inventory.
if redis.call('SREM', KEYS[2], ARGV[1]) == 0 then return 0 end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[2])
return 1
