-- KEYS: market, the buyer's account, the seller's account, the buyer's inventory. ARGV: item, market member.
-- Reply: 1 bought, 0 it is not on the market or too dear.
local price = redis.call('ZSCORE', KEYS[1], ARGV[2])
if not price then return 0 end
local funds = tonumber(redis.call('HGET', KEYS[2], 'funds'))
if not funds or tonumber(price) > funds then return 0 end
redis.call('HINCRBY', KEYS[3], 'funds', price)
redis.call('HINCRBY', KEYS[2], 'funds', '-' .. price)
redis.call('SADD', KEYS[4], ARGV[1])
redis.call('ZREM', KEYS[1], ARGV[2])
return 1
