import { apiKey, headerName, httpUrl, integer, milliseconds, onOff } from '../kinds.ts';
import { variable } from '../variable.ts';
import { NAMES } from './index-of-chains.ts';

/** The service, or what stands in its place. */
export const UPSTREAM = {
  UPSTREAM_URL: variable(
    httpUrl,
    null,
    'Base URL of the service. With NODE_ENV=production, either this, CHAINS, BLOCKSCOUT or SANDBOX=on is required.',
    {
      isCommon: true,
      isSecret: true,
      byDefault: 'none: the sandbox, or CHAINS and BLOCKSCOUT',
      example: 'https://api.example.com',
    },
  ),
  UPSTREAM_API_KEY: variable(
    apiKey,
    null,
    'The key that the gateway itself holds. The sandbox, CHAINS and BLOCKSCOUT have their own without one.',
    { isCommon: true, isSecret: true, example: 'YOUR_KEY' },
  ),
  UPSTREAM_API_KEY_HEADER: variable(
    headerName,
    'X-Service-Api-Key',
    'Header that carries the key, to the service and from clients.',
  ),
  UPSTREAM_TIMEOUT_MS: variable(
    milliseconds(1, 600_000),
    10_000,
    'Timeout of one upstream request, to its last byte. All requests of an operation together have three times as long.',
  ),
  UPSTREAM_CONNECTIONS: variable(
    integer(1, 10_000),
    128,
    'Concurrent requests to the service, each on a socket of its own.',
  ),
  UPSTREAM_RPS: variable(
    integer(1, 100_000, 'requests per second'),
    null,
    'Rate limit towards the service, in requests per second. Requests above it wait in a queue. With REDIS_URL it is the rate of all gateways together.',
    { example: '50' },
  ),
  DEFAULT_CHAIN_COUNT: variable(
    integer(1, 10_000),
    null,
    'Estimated CU of a request for collectibles or balances without chain ids, until the service reports what it bills.',
    { byDefault: '14 (CHAINS and BLOCKSCOUT: their number)' },
  ),
  ...NAMES,
  SANDBOX: variable(
    onOff,
    null,
    'Only without UPSTREAM_URL, CHAINS and BLOCKSCOUT. `on` starts the [sandbox](sandbox.md) even with NODE_ENV=production; with `off` the gateway does not start.',
    { byDefault: '`on` in development' },
  ),
  SANDBOX_BLOCK_MS: variable(
    milliseconds(10, 3_600_000),
    2000,
    "Milliseconds between the sandbox's blocks and their events.",
    {
      unused: (env) =>
        env.UPSTREAM_URL || env.CHAINS || env.BLOCKSCOUT ? 'not used without the sandbox' : null,
    },
  ),
};
