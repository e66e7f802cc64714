-- Puts a record in the place of the expected one, unless it is another one. KEYS: the record.
-- ARGV: 1 expected record, empty for none, 2 the next one, 3 milliseconds that it is kept.
-- Returns {1 or 0, milliseconds since 1970, the record that is there unless it is the next one}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found = redis.call('GET', KEYS[1]) or ''
if found ~= ARGV[1] then return {0, string.format('%.0f', now), found} end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return {1, string.format('%.0f', now), ''}
