-- Reads the state of one tenant's log, and a page of it.
-- KEYS: the stream, the state.
-- ARGV: the sequence after which the page begins and the one before which it ends ('' for the ends of the log); 'oldest' or
-- 'newest', the end from which it is taken; the greatest number of deliveries, and of the bytes of their bodies.
-- Returns head, floor and epoch; then the marks at head, at floor and at the two sequences ('' where there is none); then
-- three items for each delivery: its sequence, its header and its body.
local stream, state = KEYS[1], KEYS[2]
local take, limit, maxBytes = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])

local known = redis.call('HMGET', state, 'head', 'floor', 'epoch', 'newest', 'trimmed')
local head, floor = tonumber(known[1] or '0'), tonumber(known[2] or '0')

local function entryAt(sequence)
  local id = string.format('%.0f-0', sequence)
  return redis.call('XRANGE', stream, id, id)[1]
end

local function markAt(text)
  if text == '' then return '' end
  local sequence = tonumber(text)
  if sequence == floor then return known[5] or '' end
  if sequence == head then return known[4] or '' end
  if sequence < floor or sequence > head then return '' end
  local entry = entryAt(sequence)
  return entry and string.sub(entry[2][2], 1, 24) or ''
end

local reply = {
  head, floor, known[3] or '', known[4] or '', known[5] or '', markAt(ARGV[1]), markAt(ARGV[2]),
}
local low = ARGV[1] == '' and floor or math.max(floor, tonumber(ARGV[1]))
local high = ARGV[2] == '' and head + 1 or math.min(head + 1, tonumber(ARGV[2]))
local sequence, step = low + 1, 1
if take == 'newest' then sequence, step = high - 1, -1 end
local bytes = 0
while limit > 0 and bytes < maxBytes and sequence > low and sequence < high do
  local entry = entryAt(sequence)
  if entry then
    reply[#reply + 1] = sequence
    reply[#reply + 1] = entry[2][2]
    reply[#reply + 1] = entry[2][4]
    -- The size of the body before it was compressed: see entry.ts.
    bytes = bytes + struct.unpack('>I4', entry[2][2], 25)
  end
  limit = limit - 1
  sequence = sequence + step
end
return reply
