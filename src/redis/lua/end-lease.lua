-- Ends a lease, stores the page that was fetched under it, and wakes the gateways that wait for it.
-- KEYS: generation of the address, page, lease, channels that wait, newer page with failures.
-- ARGV: 1 token of the lease, 2 its generation, 3 the name of the page for those that wait. With a page also: 4 its age,
-- 5 limit, 6 details, 7 follows, 8 fetchedAt, 9 how long details stay, 10 milliseconds of a page, 11 of a generation,
-- 12 encoding, 13 body, 14 whether it has failures: then it leaves the older page where it is.
-- Returns 1 where the page was stored.
local isStored = 0
if ARGV[4] and redis.call('GET', KEYS[1]) == ARGV[2] then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local startedAt = now - ARGV[4]
  local leftMs = ARGV[10] - ARGV[4]
  local key = ARGV[14] == '1' and KEYS[5] or KEYS[2]
  local keepDetailsUntil = 0
  local isNewest = true
  for _, other in ipairs({KEYS[2], KEYS[5]}) do
    local page = redis.call('HMGET', other, 'generation', 'startedAt', 'keepDetailsUntil')
    keepDetailsUntil = math.max(keepDetailsUntil, tonumber(page[3] or 0))
    if page[1] == ARGV[2] and tonumber(page[2]) > startedAt then isNewest = false end
  end
  if leftMs > 0 and isNewest then
    if tonumber(ARGV[9]) > 0 then keepDetailsUntil = math.max(keepDetailsUntil, now + ARGV[9]) end
    redis.call('DEL', KEYS[5], key)
    redis.call('HSET', key, 'token', ARGV[1], 'generation', ARGV[2], 'startedAt', string.format('%.0f', startedAt),
      'limit', ARGV[5], 'details', ARGV[6], 'follows', ARGV[7], 'fetchedAt', ARGV[8], 'encoding', ARGV[12],
      'body', ARGV[13], 'keepDetailsUntil', string.format('%.0f', keepDetailsUntil))
    redis.call('PEXPIRE', key, string.format('%.0f', leftMs))
    redis.call('PEXPIRE', KEYS[1], ARGV[11])
    isStored = 1
  end
end
if redis.call('HGET', KEYS[3], 'token') == ARGV[1] then redis.call('DEL', KEYS[3]) end
for _, channel in ipairs(redis.call('SMEMBERS', KEYS[4])) do redis.call('PUBLISH', channel, ARGV[3]) end
redis.call('DEL', KEYS[4])
return isStored
