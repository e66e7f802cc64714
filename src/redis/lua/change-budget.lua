-- Changes the bucket of a client, which fills at an even rate and is full where there is none.
-- KEYS: bucket. ARGV: 1 units that are taken (negative: given back), 2 units a minute, 3 whether to take more than there is.
-- Returns {1, units that are left, negative after more was taken}, or {0, units that are left, milliseconds until there are enough} where nothing was taken.
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local units, perMinute = tonumber(ARGV[1]), tonumber(ARGV[2])
local bucket = redis.call('HMGET', KEYS[1], 'level', 'at')
local level = perMinute
if bucket[1] then
  level = math.min(perMinute, bucket[1] + math.max(0, now - bucket[2]) * perMinute / 60000)
end
if units > level and ARGV[3] ~= '1' then
  return {0, math.max(0, math.floor(level)), math.ceil((units - level) * 60000 / perMinute)}
end
level = math.min(perMinute, level - units)
redis.call('HSET', KEYS[1], 'level', string.format('%.6f', level), 'at', string.format('%.3f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil((perMinute - level) * 60000 / perMinute) + 1000)
return {1, math.floor(level)}
