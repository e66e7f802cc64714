-- Drops the oldest deliveries of one tenant that are beyond the retention, few enough per call not to hold Redis for long.
-- KEYS: the stream, the state.
-- ARGV: the prefix of the tenant's other keys; how many deliveries are kept; the time now, and the age at which one
-- is too old, in milliseconds; how many are dropped at most.
-- Returns whether there may be more to drop, when the oldest delivery that stays was stored ('' for none), and what was damaged
-- and is mended.
local stream, state = KEYS[1], KEYS[2]
local prefix, keep, now, maxAge, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local MAX_APART, MAX_BYTES = 3600000, 1048576

local head, floor, _, _, _, mended = openLog(stream, state, prefix)
if not head then return { 0, '', '' } end
local first = floor
local last

-- When an entry was stored, which is when it was received unless its gateway's clock and that of Redis were apart. Then one of
-- them was wrong, and the later time is taken, so that the entry isn't dropped early, unless that time has not come yet. A
-- malformed entry is older than all others: nothing can read it.
local function storedAt(entry)
  local header = entry[2][2]
  if #header < FIXED_BYTES then return -math.huge end
  local received, byRedis = receivedOf(header), tonumber(entry[2][6] or nil)
  if not byRedis then return received end
  return received <= now + MAX_APART and math.max(received, byRedis) or byRedis
end

-- Everything after the first delivery that stays is kept, even if it is older: the clock may have gone back.
local from, bytes, isDone = '-', 0, false
while floor - first < limit and bytes < MAX_BYTES do
  local entry = redis.call('XRANGE', stream, from, '+', 'COUNT', 1)[1]
  local sequence = entry and sequenceOf(entry)
  if not entry or (sequence > head - keep and storedAt(entry) >= now - maxAge) then
    isDone = true
    break
  end
  local header, body = entry[2][2], entry[2][4] or ''
  if #header >= IDENTITY_BYTES then
    local identities, short, long = identityOf(prefix, header)
    local isShort = try('HGET', identities, short) == string.format('%.0f', sequence)
    try('HDEL', identities, isShort and short or long)
  end
  floor, last = sequence, markOf(header)
  from = '(' .. entry[1]
  bytes = bytes + #body
end

if last then
  redis.call('XTRIM', stream, 'MINID', string.format('%.0f-0', floor + 1))
  redis.call('HSET', state, 'floor', string.format('%.0f', floor), 'trimmed', last)
  dropSegments(prefix, segmentOf(first), segmentOf(floor + 1) - 1)
end
local left = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
return { isDone and 0 or 1, left and string.format('%.0f', storedAt(left)) or '', mended }
