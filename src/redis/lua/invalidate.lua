-- Invalidates all pages of some addresses, and what is being fetched of them. KEYS: their generations. ARGV: 1 channel,
-- 2 message.
redis.call('DEL', unpack(KEYS))
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1
