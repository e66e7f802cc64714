-- Prolongs a lease. KEYS: lease. ARGV: 1 its token, 2 milliseconds. Returns 0 where another gateway has it by now.
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
