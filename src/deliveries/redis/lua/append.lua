-- Appends deliveries to one tenant's log. A duplicate gets the place of the original.
-- KEYS: the stream, the state.
-- ARGV: the prefix of the tenant's other keys; the channel and what to publish there; the epoch of a new log, or '' to
-- create none; the deliveries (see batch.ts, entry.ts, postings.ts).
-- Returns false when there is no log yet and no epoch to create it. Otherwise head, floor and epoch, and the head before; then
-- three items for each duplicate: its index, the sequence of the original and its mark. The others are numbered in their order.
local stream, state = KEYS[1], KEYS[2]
local prefix, channel, message, newEpoch, batch = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local SEGMENT = 16384

local known = redis.call('HMGET', state, 'head', 'floor', 'epoch')
if not known[3] then
  if newEpoch == '' then return false end
  redis.call('HSET', state, 'head', '0', 'floor', '0', 'epoch', newEpoch)
  known = { '0', '0', newEpoch }
end

local head, floor = tonumber(known[1]), tonumber(known[2])
local first = head
local newest
local segments = {}
local reply = { 0, floor, known[3], first }

-- The identity and the time, from which the fingerprint of a cursor is made.
local function markOf(header) return string.sub(header, 1, 24) end

local function addPostings(terms)
  local segment = math.floor(head / SEGMENT)
  local buckets = segments[segment]
  if not buckets then
    buckets = {}
    segments[segment] = buckets
  end
  local offset = struct.pack('>H', head % SEGMENT)
  local start = 1
  while start < #terms do
    local bucket, count = string.byte(terms, start, start + 1)
    local stop = start + 1 + 4 * count
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

  local identity = string.sub(header, 1, 16)
  local b1, b2 = string.byte(identity, 1, 2)
  local identities = prefix .. 'identity:' .. (b1 * 16 + math.floor(b2 / 16))
  local sequence = string.format('%.0f', head + 1)
  local original
  if redis.call('HSETNX', identities, identity, sequence) == 0 then
    local place = redis.call('HGET', identities, identity)
    original = redis.call('XRANGE', stream, place .. '-0', place .. '-0')[1]
    if original then
      for _, item in ipairs({ index, tonumber(place), markOf(original[2][2]) }) do reply[#reply + 1] = item end
    else
      redis.call('HSET', identities, identity, sequence)
    end
  end
  if not original then
    head = head + 1
    redis.call('XADD', stream, sequence .. '-0', 'h', header, 'b', string.sub(batch, body, terms - 1))
    newest = header
    addPostings(string.sub(batch, terms, at - 1))
  end
  index = index + 1
end

for segment, buckets in pairs(segments) do
  local key = string.format('%sindex:%.0f:', prefix, segment)
  for bucket, postings in pairs(buckets) do
    redis.call('APPEND', key .. bucket, postings[2] and table.concat(postings) or postings[1])
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
