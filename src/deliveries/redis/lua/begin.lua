-- Makes one tenant's log an empty one that is held, in which all deliveries up to a sequence are trimmed.
-- KEYS: the stream, the state.
-- ARGV: the prefix of the tenant's other keys; the sequence; the epoch; the mark of the last trimmed delivery, or ''.
local stream, state = KEYS[1], KEYS[2]
local known = try('HGET', state, 'head')
if redis.call('UNLINK', stream, state) > 0 then dropIndexes(ARGV[1], tonumber(known or nil) or 0) end
redis.call('HSET', state, 'head', ARGV[2], 'floor', ARGV[2], 'epoch', ARGV[3], 'newest', ARGV[4], 'trimmed', ARGV[4])
redis.call('HSET', state, 'fenced', '1')
return {}
