-- Reads the state of one tenant's log, and may hold it: append.lua appends nothing to a log that is held, but for a copy.
-- KEYS: the stream, the state.
-- ARGV: the prefix of the tenant's other keys; 'hold', 'release' or ''.
-- Returns head, floor and epoch, the marks of the newest and of the last trimmed delivery, and what was damaged and is mended;
-- nothing where there is no log.
local stream, state = KEYS[1], KEYS[2]
local head, floor, epoch, newest, trimmed, mended = openLog(stream, state, ARGV[1])
if not head then return {} end
if ARGV[2] == 'hold' then redis.call('HSET', state, 'fenced', '1') end
if ARGV[2] == 'release' then redis.call('HDEL', state, 'fenced') end
return { head, floor, epoch, newest, trimmed, mended }
