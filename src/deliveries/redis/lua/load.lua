-- Loads deliveries of one tenant by their sequences.
-- KEYS: the stream, the state.
-- ARGV: the greatest number of bytes of bodies; 'bodies', or 'headers' for deliveries without their bodies; the sequences.
-- Returns floor, then three items for each delivery that is stored: its sequence, its header and its body.
local stream, state = KEYS[1], KEYS[2]
local maxBytes, withBodies = tonumber(ARGV[1]), ARGV[2] == 'bodies'
local reply = { tonumber(redis.call('HGET', state, 'floor') or '0') }
local bytes = 0
for at = 3, #ARGV do
  if bytes >= maxBytes then break end
  local entry = entryAt(stream, tonumber(ARGV[at]))
  if entry then
    reply[#reply + 1] = tonumber(ARGV[at])
    reply[#reply + 1] = entry[2][2]
    reply[#reply + 1] = withBodies and entry[2][4] or ''
    bytes = bytes + sizeOf(entry[2][2])
  end
end
return reply
