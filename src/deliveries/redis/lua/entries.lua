-- Reads deliveries of one tenant as they are stored.
-- KEYS: the stream, the state.
-- ARGV: the sequence after which they begin; the greatest number of deliveries, and of the bytes of their bodies.
-- Returns four items for each delivery: its sequence, its header, its body, and its time by the clock of Redis ('' unless that
-- was far from its gateway's).
local from, limit, maxBytes = '(' .. ARGV[1] .. '-0', tonumber(ARGV[2]), tonumber(ARGV[3])
local reply, bytes = {}, 0
while #reply < 4 * limit and bytes < maxBytes do
  local entry = redis.call('XRANGE', KEYS[1], from, '+', 'COUNT', 1)[1]
  if not entry then break end
  local header = entry[2][2]
  for _, item in ipairs({ sequenceOf(entry), header, entry[2][4] or '', entry[2][6] or '' }) do reply[#reply + 1] = item end
  bytes = bytes + sizeOf(header)
  from = '(' .. entry[1]
end
return reply
