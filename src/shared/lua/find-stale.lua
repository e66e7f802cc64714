-- Finds a page that stands in for a failed request.
-- KEYS: generation of the address, page. ARGV: 1 max age, 2 limit, 3 details (names, comma-separated), 4 follows.
-- Returns as find.lua does for a page, or nil.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local page = redis.call('HMGET', KEYS[2], 'generation', 'startedAt', 'limit', 'details', 'follows', 'fetchedAt')
if not page[1] then return false end
local age = math.max(0, now - page[2])
if age > tonumber(ARGV[1]) or tonumber(page[3]) < tonumber(ARGV[2]) then return false end
for name in string.gmatch(ARGV[3], '[^,]+') do
  if not string.find(',' .. page[4] .. ',', ',' .. name .. ',', 1, true) then return false end
end
if ARGV[4] ~= '-' and ARGV[4] ~= page[5] then return false end
local isCurrent = redis.call('GET', KEYS[1]) == page[1] and 1 or 0
local rest = redis.call('HMGET', KEYS[2], 'body', 'encoding')
return {'page', rest[1], rest[2], age, page[3], page[4], page[5], page[6], isCurrent}
