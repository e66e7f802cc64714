-- Appends deliveries to one tenant's log. A duplicate gets the place of the original.
-- KEYS: the stream, the state.
-- ARGV: the prefix of the tenant's other keys; the channel and what to publish there; the epoch of a new log, or '' to
-- create none; the deliveries (see packBatch, entryOf and packTerms); the time in milliseconds, or '' for that of Redis;
-- 'replicated' where deliveries are shown only once replicas have them (see replication.ts), else ''; the head that a copy of
-- another log expects, else nothing. A copy is appended as it is: it may have two deliveries of one body, and their times are
-- those of the other log. If the head is another one, nothing is appended.
-- Returns false when there is no log yet and no epoch to create it. Otherwise head, floor and epoch, the head before, and what
-- was damaged and is mended; then three items for each duplicate: its index, the sequence of the original and its mark. The
-- others are numbered in their order.
local stream, state = KEYS[1], KEYS[2]
local prefix, channel, message, newEpoch, batch, now = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
local copiedAfter = tonumber(ARGV[8] or nil)
local MAX_APART = 3600000

local head, floor, epoch, _, _, mended = openLog(stream, state, prefix)
if not head then
  if newEpoch == '' then return false end
  redis.call('HSET', state, 'head', '0', 'floor', '0', 'epoch', newEpoch)
  head, floor, epoch, mended = 0, 0, newEpoch, ''
end
if copiedAfter then
  if copiedAfter ~= head then return { head, floor, epoch, head, mended } end
elseif redis.call('HEXISTS', state, 'fenced') == 1 then
  return redis.error_reply('FENCED this log is being copied, or was copied: start this gateway on the copy')
end
if not now and not copiedAfter then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

-- What was stored before there was this mark is shown.
if ARGV[7] ~= '' then redis.call('HSETNX', state, 'replicated', string.format('%.0f', head)) end
local first = head
local newest
local segments = {}
local reply = { 0, floor, epoch, first, mended }

-- Runs a command again without the key when that has another type.
local function replacing(command, key, ...)
  local reply, isOther = try(command, key, ...)
  if not isOther then return reply end
  redis.call('UNLINK', key)
  return redis.call(command, key, ...)
end

-- Returns the delivery at a place that has the same body and chain; else nil, and whether one of another chain is there. The
-- identities of a log that was lost name other deliveries.
local function storedWith(place, header)
  local entry = place and tonumber(place) and entryAt(stream, tonumber(place))
  local found = entry and entry[2][2]
  if not found or string.sub(found, 1, IDENTITY_BYTES) ~= string.sub(header, 1, IDENTITY_BYTES) then return nil, false end
  if chainOf(found) == chainOf(header) then return entry, false end
  return nil, true
end

local function addPostings(terms)
  local segment = segmentOf(head)
  local buckets = segments[segment]
  if not buckets then
    buckets = {}
    segments[segment] = buckets
  end
  local offset = struct.pack('>H', head % SEGMENT_DELIVERIES)
  local start = 1
  while start < #terms do
    local bucket, count = string.byte(terms, start, start + 1)
    local stop = start + 1 + HASH_BYTES * count
    local posting = offset .. string.sub(terms, start + 1, stop)
    local postings = buckets[bucket]
    if postings then postings[#postings + 1] = posting else buckets[bucket] = { posting } end
    start = stop + 1
  end
end

local index, at = 0, 1
while at <= #batch do
  local headerBytes, bodyBytes, termsBytes, body = struct.unpack('>I4I4I4', batch, at)
  local header = string.sub(batch, body, body + headerBytes - 1)
  body = body + headerBytes
  local terms = body + bodyBytes
  at = terms + termsBytes

  local identities, short, long = identityOf(prefix, header)
  local known = replacing('HMGET', identities, short, long)
  local own, isTaken = storedWith(known[1], header)
  local original = own or storedWith(known[2], header)
  if original and not copiedAfter then
    local place = sequenceOf(original)
    for _, item in ipairs({ index, place, markOf(original[2][2]) }) do reply[#reply + 1] = item end
  else
    head = head + 1
    local sequence = string.format('%.0f', head)
    redis.call('HSET', identities, isTaken and long or short, sequence)
    local entry = { 'h', header, 'b', string.sub(batch, body, terms - 1) }
    -- One of the two clocks is wrong: trim.lua decides which one retention goes by.
    if now and math.abs(receivedOf(header) - now) > MAX_APART then
      entry[5], entry[6] = 't', string.format('%.0f', now)
    end
    redis.call('XADD', stream, sequence .. '-0', unpack(entry))
    newest = header
    addPostings(string.sub(batch, terms, at - 1))
  end
  index = index + 1
end

for segment, buckets in pairs(segments) do
  local key = string.format('%sindex:%.0f:', prefix, segment)
  for bucket, postings in pairs(buckets) do
    local added = postings[2] and table.concat(postings) or postings[1]
    -- A bucket that begins though it has begun before has lost what was in it.
    if replacing('APPEND', key .. bucket, added) == #added and replacing('SETBIT', key .. 'marks', BEGUN + bucket, 1) == 1 then
      redis.call('SETBIT', key .. 'marks', LOST + bucket, 1)
    end
  end
end
if newest then
  redis.call('HSET', state, 'head', string.format('%.0f', head), 'newest', markOf(newest))
  redis.call('PUBLISH', channel, string.format('%.0f ', head) .. message)
else
  -- WAIT counts the replicas that have what this connection wrote last.
  redis.call('HSET', state, 'head', string.format('%.0f', head))
end
reply[1] = head
return reply
