-- Reads the state of one tenant's log, and a page of it.
-- KEYS: the stream, the state.
-- ARGV: the sequence after which the page begins and the one before which it ends ('' for the ends of the log); 'oldest' or
-- 'newest', the end from which it is taken; the greatest number of deliveries, and of the bytes of their bodies; the prefix of
-- the tenant's other keys; 'replicated' to end the log at the last delivery that replicas have, else ''.
-- Returns head, floor and epoch, and what was damaged and is mended; then the marks at head, at floor and at the two sequences
-- ('' where there is none); the sequence of the newest delivery, also where the log ends before it; then three items for each
-- delivery: its sequence, its header and its body.
local stream, state = KEYS[1], KEYS[2]
local take, limit, maxBytes, prefix = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]

local last, floor, epoch, newest, trimmed, mended = openLog(stream, state, prefix)
if not last then
  last, floor, epoch, newest, trimmed, mended = 0, 0, '', '', '', ''
end

local function markAt(text)
  if text == '' then return '' end
  local sequence = tonumber(text)
  if sequence == floor then return trimmed end
  if sequence == last then return newest end
  if sequence < floor or sequence > last then return '' end
  local entry = entryAt(stream, sequence)
  return entry and markOf(entry[2][2]) or ''
end

local head = last
if ARGV[7] ~= '' then
  local replicated = tonumber(redis.call('HGET', state, 'replicated') or last)
  head = math.max(floor, math.min(last, replicated))
end
local markAtHead = head == last and newest or markAt(head)
local reply = { head, floor, epoch, mended, markAtHead, trimmed, markAt(ARGV[1]), markAt(ARGV[2]), last }
local low = ARGV[1] == '' and floor or math.max(floor, tonumber(ARGV[1]))
local high = ARGV[2] == '' and head + 1 or math.min(head + 1, tonumber(ARGV[2]))
local sequence, step = low + 1, 1
if take == 'newest' then sequence, step = high - 1, -1 end
local bytes = 0
while limit > 0 and bytes < maxBytes and sequence > low and sequence < high do
  local entry = entryAt(stream, sequence)
  if entry then
    reply[#reply + 1] = sequence
    reply[#reply + 1] = entry[2][2]
    reply[#reply + 1] = entry[2][4] or ''
    bytes = bytes + sizeOf(entry[2][2])
  end
  limit = limit - 1
  sequence = sequence + step
end
return reply
