-- What every script of the log begins with, behind the numbers of layout.ts. A tenant's stream and its state are written together, but they are two keys: one
-- of them can be lost alone, be of another type, or have been written by something else.

-- Returns the reply, and whether the key has another type than the command wants. All other errors are raised.
local function try(...)
  local reply = redis.pcall(...)
  if type(reply) ~= 'table' or not reply.err then return reply, false end
  if not string.find(reply.err, 'WRONGTYPE', 1, true) then error(reply) end
  return nil, true
end

local function entryAt(stream, sequence)
  local id = string.format('%.0f-0', sequence)
  return redis.call('XRANGE', stream, id, id)[1]
end

local function sequenceOf(entry) return tonumber(string.match(entry[1], '^%d+')) end

-- The identity and the time, from which the fingerprint of a cursor is made; '' of a malformed header.
local function markOf(header) return #header < MARK_BYTES and '' or string.sub(header, 1, MARK_BYTES) end

-- The chain of a delivery as its header has it; '' where it is unknown.
local function chainOf(header)
  local flags = string.byte(header, FLAGS_AT + 1) or 0
  if math.floor(flags / HAS_CHAIN) % 2 == 0 then return '' end
  local at = FIXED_BYTES + math.floor(flags / HAS_WEBHOOK) % 2 * UUID_BYTES
  return string.sub(header, at + 1, at + DOUBLE_BYTES)
end

-- Where a delivery is found by its repeat: the key, and two fields of it. The first body of its kind is in the short field,
-- where it was before identities had chains, and the same body of other chains in the long ones.
local function identityOf(prefix, header)
  local identity = string.sub(header, 1, IDENTITY_BYTES)
  local b1, b2 = string.byte(identity, 1, 2)
  return prefix .. 'identity:' .. (b1 * 16 + math.floor(b2 / 16)), identity, identity .. ':' .. chainOf(header)
end

-- The size of the body before it was compressed.
local function sizeOf(header) return #header < FLAGS_AT and 0 or struct.unpack('>I4', header, SIZE_AT + 1) end

-- When the delivery was received, in milliseconds.
local function receivedOf(header) return struct.unpack('>d', header, RECEIVED_AT + 1) end

local function segmentOf(sequence) return math.floor(sequence / SEGMENT_DELIVERIES) end

-- Drops segments of the index, from the last one back. They are at most those of 16 million deliveries, whatever the numbers
-- in a damaged log say: Redis serves nothing else meanwhile.
local function dropSegments(prefix, first, last)
  for segment = last, math.max(first, last - 1023), -1 do
    local key = string.format('%sindex:%.0f:', prefix, segment)
    local keys = { key .. 'marks' }
    for bucket = 0, BUCKETS - 1 do keys[#keys + 1] = key .. bucket end
    redis.call('UNLINK', unpack(keys))
  end
end

-- Drops all that belongs to deliveries up to `head`, but for the stream and the state.
local function dropIndexes(prefix, head)
  for bucket = 0, 4095 do redis.call('UNLINK', prefix .. 'identity:' .. bucket) end
  dropSegments(prefix, 0, segmentOf(head))
end

-- Removes what no gateway has written beside a whole log. Returns what it has found, or ''.
local function removeForeign(stream, head, floor)
  local removed = redis.call('XTRIM', stream, 'MINID', string.format('%.0f-0', floor + 1))
  local after = string.format('(%.0f-0', head)
  while true do
    local foreign = redis.call('XRANGE', stream, after, '+', 'COUNT', 100)
    if not foreign[1] then break end
    for _, entry in ipairs(foreign) do removed = removed + redis.call('XDEL', stream, entry[1]) end
  end
  if removed == 0 then return '' end
  redis.call('XSETID', stream, string.format('%.0f-0', head))
  return string.format('%d entries of its stream were not written by a gateway, and are removed', removed)
end

-- Begins a new log with what is left of the stream. Its epoch is another one: cursors of before expire.
local function beginAnew(stream, state, prefix, head, floor)
  local isStream = redis.call('TYPE', stream).ok == 'stream'
  local oldest = isStream and redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
  local newest = isStream and redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
  local expected = head and floor and string.format('deliveries %.0f to %.0f', floor + 1, head) or 'a state'
  local found
  if newest then
    head, floor = sequenceOf(newest), sequenceOf(oldest) - 1
    redis.call('XSETID', stream, newest[1])
    found = string.format('deliveries %.0f to %.0f, which stay', floor + 1, head)
  else
    head = head or 0
    if isStream then
      local info = redis.call('XINFO', 'STREAM', stream)
      for at = 1, #info, 2 do
        if info[at] == 'last-generated-id' then head = math.max(head, tonumber(string.match(info[at + 1], '^%d+'))) end
      end
    end
    redis.call('UNLINK', stream)
    dropIndexes(prefix, head)
    floor = head
    found = 'no deliveries'
  end
  local time = redis.call('TIME')
  local hash = string.sub(redis.sha1hex(stream .. time[1] .. ' ' .. time[2]), 1, 16)
  local epoch = string.gsub(hash, '..', function(byte) return string.char(tonumber(byte, 16)) end)
  local mark = newest and markOf(newest[2][2]) or ''
  redis.call('UNLINK', state)
  redis.call('HSET', state, 'head', string.format('%.0f', head), 'floor', string.format('%.0f', floor))
  redis.call('HSET', state, 'epoch', epoch, 'newest', mark)
  return head, floor, epoch, mark, '', string.format('expected %s, found %s', expected, found)
end

-- Returns head, floor, epoch, the marks of the newest and of the last trimmed delivery, and what was damaged and is mended
-- ('' for nothing); nothing at all where there is no log yet.
local function openLog(stream, state, prefix)
  local known, isOther = try('HMGET', state, 'head', 'floor', 'epoch', 'newest', 'trimmed')
  known = known or {}
  local count = try('XLEN', stream)
  local head, floor, epoch = tonumber(known[1] or nil), tonumber(known[2] or nil), known[3]
  if head and floor and epoch and #epoch == 8 then
    local newest, trimmed = known[4] or '', known[5] or ''
    if count == head - floor then return head, floor, epoch, newest, trimmed, '' end
    if count and (head == floor or (entryAt(stream, floor + 1) and entryAt(stream, head))) then
      -- An entry between the two may be missing: a read says so.
      local found = count == 0 and '' or removeForeign(stream, head, floor)
      return head, floor, epoch, newest, trimmed, found
    end
  elseif not isOther and not epoch and redis.call('EXISTS', stream) == 0 then
    return
  end
  return beginAnew(stream, state, prefix, head, floor)
end

