-- Reserves the next slot of a rate, unless it comes too late. KEYS: the time of the next free slot.
-- ARGV: 1 milliseconds between slots, 2 the longest wait. Returns {1 or 0, milliseconds until the slot}.
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local slot = math.max(now, tonumber(redis.call('GET', KEYS[1]) or 0))
local wait = math.ceil(slot - now)
if wait > tonumber(ARGV[2]) then return {0, wait} end
redis.call('SET', KEYS[1], string.format('%.3f', slot + ARGV[1]), 'PX', wait + math.ceil(ARGV[1]) + 1000)
return {1, wait}
