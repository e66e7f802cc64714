-- Replaces the value of a key if it is still what was read.
-- KEYS: the key.
-- ARGV: what was read; what takes its place.
-- Returns whether it was replaced.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return { 0 } end
redis.call('SET', KEYS[1], ARGV[2])
return { 1 }
