-- Drops the oldest deliveries of one tenant that are beyond the retention, so many a call that Redis is not held for long.
-- KEYS: the stream, the state.
-- ARGV: the prefix of the tenant's other keys; how many deliveries are kept; the time before which one is too old, in
-- milliseconds; how many are dropped at most.
-- Returns whether there may be more to drop, and when the oldest delivery that stays was received ('' for none).
local stream, state = KEYS[1], KEYS[2]
local prefix, keep, oldest, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local SEGMENT, BUCKETS, MAX_BYTES = 16384, 256, 1048576

local known = redis.call('HMGET', state, 'head', 'floor')
if not known[1] then return { 0, '' } end
local head, floor = tonumber(known[1]), tonumber(known[2])
local first = floor
local last

-- Everything after the first delivery that stays is kept, even if it is older: the clock may have gone back.
local from, bytes, isDone = '-', 0, false
while floor - first < limit and bytes < MAX_BYTES do
  local entry = redis.call('XRANGE', stream, from, '+', 'COUNT', 1)[1]
  local header = entry and entry[2][2]
  local sequence = entry and tonumber(string.match(entry[1], '^%d+'))
  if not entry or (sequence > head - keep and struct.unpack('>d', header, 17) >= oldest) then
    isDone = true
    break
  end
  local identity = string.sub(header, 1, 16)
  local b1, b2 = string.byte(identity, 1, 2)
  redis.call('HDEL', prefix .. 'identity:' .. (b1 * 16 + math.floor(b2 / 16)), identity)
  floor, last = sequence, string.sub(header, 1, 24)
  from = '(' .. entry[1]
  bytes = bytes + #entry[2][4]
end

if last then
  redis.call('XTRIM', stream, 'MINID', string.format('%.0f-0', floor + 1))
  redis.call('HSET', state, 'floor', string.format('%.0f', floor), 'trimmed', last)
  for segment = math.floor(first / SEGMENT), math.floor((floor + 1) / SEGMENT) - 1 do
    for bucket = 0, BUCKETS - 1 do
      redis.call('UNLINK', string.format('%sindex:%.0f:%d', prefix, segment, bucket))
    end
  end
end
local left = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
return { isDone and 0 or 1, left and string.format('%.0f', struct.unpack('>d', left[2][2], 17)) or '' }
