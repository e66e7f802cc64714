-- Records that replicas have a tenant's deliveries up to one, and publishes that they can be read.
-- KEYS: the stream, the state.
-- ARGV: the sequence; the channel and what to publish there.
local state, reached = KEYS[2], tonumber(ARGV[1])
local known = redis.call('HMGET', state, 'head', 'replicated')
-- The log may have been lost meanwhile.
if not known[1] or reached > tonumber(known[1]) or reached <= tonumber(known[2] or '0') then return {} end
redis.call('HSET', state, 'replicated', ARGV[1])
redis.call('PUBLISH', ARGV[2], ARGV[1] .. ' ' .. ARGV[3])
return {}
