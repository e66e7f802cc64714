-- Begins the cooldown of a key, or prolongs it. KEYS: all cooldowns by their ends.
-- ARGV: 1 name of the key, 2 milliseconds, 3 channel.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
redis.call('ZADD', KEYS[1], 'GT', string.format('%.0f', now + ARGV[2]), ARGV[1])
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', last[2] + 1000))
redis.call('PUBLISH', ARGV[3], ARGV[1] .. ' ' .. ARGV[2])
return 1
