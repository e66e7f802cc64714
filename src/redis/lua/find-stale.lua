-- Finds a page that stands in for a failed request: a whole one, or else one with failures.
-- KEYS: generation of the address, page, newer page with failures.
-- ARGV: 1 max age, 2 limit, 3 details (names, comma-separated), 4 follows.
-- Returns as find.lua does for a page, or nil.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function hasAll(details)
  for name in string.gmatch(ARGV[3], '[^,]+') do
    if not string.find(',' .. details .. ',', ',' .. name .. ',', 1, true) then return false end
  end
  return true
end

for index = 2, 3 do
  local key = KEYS[index]
  local page = redis.call('HMGET', key, 'generation', 'startedAt', 'limit', 'details', 'follows', 'fetchedAt')
  local age = page[1] and math.max(0, now - page[2])
  if age and age <= tonumber(ARGV[1]) and tonumber(page[3]) >= tonumber(ARGV[2]) and hasAll(page[4])
    and (ARGV[4] == '-' or ARGV[4] == page[5]) then
    local isCurrent = redis.call('GET', KEYS[1]) == page[1] and 1 or 0
    local rest = redis.call('HMGET', key, 'body', 'encoding')
    return {'page', rest[1], rest[2], age, page[3], page[4], page[5], page[6], isCurrent}
  end
end
return false
