-- Finds a page, or takes the lease to fetch it, or waits for the gateway that has the lease.
-- KEYS: generation of the address, page, lease, channels that wait, newer page with failures.
-- ARGV: 1 max age, 2 limit, 3 details (names, comma-separated), 4 follows, 5 the lease that was waited for, 6 a new token, 7 milliseconds of a
-- lease, 8 of a generation, 9 the channel of this gateway, 10 how long details stay, in milliseconds, 11 max age of a page
-- with failures.
-- Returns {'page', body, encoding, age, limit, details, follows, fetchedAt, generation is the same},
-- {'wait', token, milliseconds} or {'lease', generation, details}.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local generation = redis.call('GET', KEYS[1])

local function has(details, name)
  return string.find(',' .. details .. ',', ',' .. name .. ',', 1, true) ~= nil
end

local function hasAll(details)
  for name in string.gmatch(ARGV[3], '[^,]+') do
    if not has(details, name) then return false end
  end
  return true
end

local function covers(limit, details, follows)
  return tonumber(limit) >= tonumber(ARGV[2])
    and hasAll(details)
    and (ARGV[4] == '-' or ARGV[4] == follows)
end

local function read(key)
  return redis.call('HMGET', key, 'generation', 'startedAt', 'limit', 'details', 'follows', 'token', 'keepDetailsUntil')
end

local key, maxAge = KEYS[2], tonumber(ARGV[1])
local page = read(key)
local failed = read(KEYS[5])
if failed[2] and not (page[2] and tonumber(page[2]) >= tonumber(failed[2])) then
  key, maxAge, page = KEYS[5], tonumber(ARGV[11]), failed
end
if generation and page[1] == generation and covers(page[3], page[4], page[5]) then
  local age = math.max(0, now - page[2])
  if age < maxAge or page[6] == ARGV[5] then
    if ARGV[3] ~= '' then
      redis.call('HSET', key, 'keepDetailsUntil', string.format('%.0f', now + ARGV[10]))
    end
    local rest = redis.call('HMGET', key, 'body', 'encoding', 'fetchedAt')
    return {'page', rest[1], rest[2], age, page[3], page[4], page[5], rest[3], 1}
  end
end

local lease = redis.call('HMGET', KEYS[3], 'token', 'generation', 'limit', 'details', 'follows')
if generation and lease[2] == generation and covers(lease[3], lease[4], lease[5]) then
  redis.call('SADD', KEYS[4], ARGV[9])
  redis.call('PEXPIRE', KEYS[4], ARGV[8])
  return {'wait', lease[1], redis.call('PTTL', KEYS[3])}
end

-- Without a generation no page is valid: it may have been evicted, and nothing says what has happened since.
generation = generation or ARGV[6]
redis.call('SET', KEYS[1], generation, 'PX', ARGV[8])
local details = ARGV[3]
if page[7] and tonumber(page[7]) > now then
  local names = {}
  for name in string.gmatch(details .. ',' .. page[4], '[^,]+') do
    if not has(table.concat(names, ','), name) then names[#names + 1] = name end
  end
  table.sort(names)
  details = table.concat(names, ',')
end
redis.call('DEL', KEYS[3])
redis.call('HSET', KEYS[3], 'token', ARGV[6], 'generation', generation, 'limit', ARGV[2], 'details', details,
  'follows', ARGV[4])
redis.call('PEXPIRE', KEYS[3], ARGV[7])
return {'lease', generation, details}
