-- Returns the names of the keys that are cooling down, each with the milliseconds that are left. KEYS: all cooldowns.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found = redis.call('ZRANGEBYSCORE', KEYS[1], string.format('%.0f', now), '+inf', 'WITHSCORES')
for index = 2, #found, 2 do found[index] = math.ceil(found[index] - now) end
return found
