-- Invalidates all pages of an address, and what is being fetched of it. KEYS: generation. ARGV: 1 channel, 2 message.
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1
