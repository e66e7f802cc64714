-- Appends deliveries to one tenant's log. A duplicate gets the place of the original.
-- KEYS: the stream, the state.
-- ARGV: the prefix of the tenant's other keys; the channel and what to publish there; the epoch of a new log, or '' to
-- create none; then for each delivery its identity, its header, its body and the terms of the index (see entry.ts, postings.ts).
-- Returns false when there is no log yet and no epoch to create it. Otherwise head, floor and epoch, then two items for each
-- delivery: its sequence, and the mark of the original, or '' for a delivery that is no duplicate.
local stream, state = KEYS[1], KEYS[2]
local prefix, channel, message, newEpoch = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
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
local postings, order = {}, {}
local reply = { 0, floor, known[3] }

-- The identity and the time, from which the fingerprint of a cursor is made.
local function markOf(header) return string.sub(header, 1, 24) end

local function idOf(sequence) return string.format('%.0f-0', sequence) end

for at = 5, #ARGV, 4 do
  local identity, header, body, terms = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local b1, b2 = string.byte(identity, 1, 2)
  local identities = prefix .. 'identity:' .. (b1 * 16 + math.floor(b2 / 16))
  local original = redis.call('HGET', identities, identity)
  local entry = original and redis.call('XRANGE', stream, original .. '-0', original .. '-0')[1]
  if entry then
    reply[#reply + 1] = tonumber(original)
    reply[#reply + 1] = markOf(entry[2][2])
  else
    head = head + 1
    redis.call('XADD', stream, idOf(head), 'h', header, 'b', body)
    redis.call('HSET', identities, identity, string.format('%.0f', head))
    newest = markOf(header)
    local segment = math.floor(head / SEGMENT)
    local offset = struct.pack('>H', head % SEGMENT)
    local start = 1
    while start < #terms do
      local bucket, count = string.byte(terms, start, start + 1)
      local stop = start + 1 + 4 * count
      local key = string.format('%sindex:%.0f:%d', prefix, segment, bucket)
      if not postings[key] then
        postings[key] = {}
        order[#order + 1] = key
      end
      local list = postings[key]
      list[#list + 1] = offset .. string.sub(terms, start + 1, stop)
      start = stop + 1
    end
    reply[#reply + 1] = head
    reply[#reply + 1] = ''
  end
end

for _, key in ipairs(order) do redis.call('APPEND', key, table.concat(postings[key])) end
-- Written for duplicates, too: WAIT counts the replicas that have what this connection wrote last.
redis.call('HSET', state, 'head', string.format('%.0f', head))
if head > first then
  redis.call('HSET', state, 'newest', newest)
  redis.call('PUBLISH', channel, string.format('%.0f ', head) .. message)
end
reply[1] = head
return reply
