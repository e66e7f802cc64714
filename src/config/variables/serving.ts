import { z } from 'zod';
import { LOG_FORMATS, LOG_LEVELS } from '../../lib/log.ts';
import {
  anyText,
  httpUrl,
  integer,
  listOf,
  milliseconds,
  networks,
  oneOf,
  onOff,
  origins,
} from '../kinds.ts';
import { variable } from '../variable.ts';

/** The longest part of a shutdown: ten minutes. */
const MAX_SHUTDOWN_MS = 600_000;

/** More than the cores of any machine. */
const MAX_WORKERS = 1024;

/** The address, the process and its pages. */
export const SERVING = {
  HOST: variable(anyText, '127.0.0.1', 'Address to listen on.', { isCommon: true }),
  PORT: variable(integer(0, 65_535), 4000, 'Port to listen on. 0 picks a free one.', { isCommon: true }),
  NODE_ENV: variable(
    anyText,
    null,
    '`production` turns off what is for development: GraphiQL, introspection and suggestions ("Did you mean"), as TRUSTED_DOCUMENTS does.',
    { isCommon: true, example: 'production' },
  ),
  PUBLIC_URL: variable(httpUrl, null, 'How the service reaches this gateway to deliver.', {
    isCommon: true,
    isSecret: true,
    byDefault: 'http://HOST:PORT as bound',
    example: 'https://gateway.example.com',
  }),
  ALLOWED_ORIGINS: variable(
    origins,
    [],
    'Origins of other sites whose pages may use the gateway (CORS and WebSocket), comma-separated.',
    { isCommon: true, byDefault: 'none: same origin only (with the sandbox in development also loopback)' },
  ),
  TRUSTED_PROXIES: variable(
    networks,
    [],
    'Addresses or networks (`10.0.0.0/8`) of the proxies in front, comma-separated. Their `X-Forwarded-For` or `Forwarded` names the client: see [Addresses of clients](operations.md#addresses-of-clients).',
    { example: '127.0.0.1' },
  ),
  WORKERS: variable(
    {
      schema: z.union([z.literal('auto'), integer(1, MAX_WORKERS).schema]),
      expected: `auto or an integer from 1 to ${MAX_WORKERS}`,
    },
    1,
    'How many processes answer on the port, each of them on a core: a number, or `auto` for one a core. More than one needs REDIS_URL, and UPSTREAM_URL or BLOCKSCOUT: see [All cores of a machine](capacity.md#all-cores-of-a-machine), also for the settings that they divide.',
    { example: '#auto' },
  ),
  NOTICE_MS: variable(
    milliseconds(0, MAX_SHUTDOWN_MS),
    null,
    'At SIGTERM, how long the gateway still accepts connections, in which its balancer notices: see [Graceful shutdown](operations.md#graceful-shutdown). Set it also where the balancer does not ask `/health/ready`.',
    { byDefault: '2000 while readiness is polled, else 0' },
  ),
  DRAIN_MS: variable(
    milliseconds(0, MAX_SHUTDOWN_MS),
    5000,
    'At SIGTERM, how long operations may go on after the notice.',
  ),
  CONSOLE: variable(
    onOff,
    null,
    '`on` or `off`: the [console](console.md), a page at `/`. Off by default with NODE_ENV=production or TRUSTED_DOCUMENTS.',
    { byDefault: '`on` in development' },
  ),
  CONSOLE_IMAGES: variable(
    onOff,
    true,
    '`off` keeps the console from loading pictures of collectibles from other hosts.',
  ),
  COMPRESSION: variable(
    onOff,
    true,
    '`on` or `off`: [compression](operations.md#compression) of answers, for clients that accept it. Turn it off where the proxy compresses.',
  ),
};

/** Each is a value of a label, and each combination of values is a series. */
const MAX_CLIENT_NAMES = 50;
const MAX_OPERATION_LABELS = 200;

/** Log lines, and what metrics tell apart. */
export const OBSERVING = {
  LOG_LEVEL: variable(
    oneOf(LOG_LEVELS),
    'info',
    '`debug`, `info`, `warn` or `error`: see [Logs](operations.md#logs). Lines are text on a terminal, and else JSON.',
  ),
  LOG_FORMAT: variable(oneOf(LOG_FORMATS), null, 'The format of log lines.', {
    replacedBy: 'the terminal: lines are text on one, and else JSON',
  }),
  CLIENT_NAMES: variable(
    listOf(
      /^[\w.:/@+ -]{1,64}$/,
      `at most ${MAX_CLIENT_NAMES} names of clients, comma-separated: letters, digits, spaces and any of . _ - : / @ +, at most 64 characters each`,
      MAX_CLIENT_NAMES,
    ),
    [],
    `Names of clients that [metrics](metrics.md#who-is-told-apart), log lines and spans tell apart, comma-separated (\`web,ios\`), at most ${MAX_CLIENT_NAMES}. All others are \`other\`.`,
    { example: 'web,ios,android' },
  ),
  OPERATION_LABELS: variable(
    listOf(
      /^[A-Za-z_]\w{0,99}$/,
      `at most ${MAX_OPERATION_LABELS} names of operations, comma-separated, at most 100 characters each`,
      MAX_OPERATION_LABELS,
    ),
    null,
    `Names of operations that metrics and log lines tell apart, comma-separated, at most ${MAX_OPERATION_LABELS}. All others are \`other\`.`,
    { byDefault: 'none: those of trusted documents' },
  ),
  TENANT_METRICS: variable(
    onOff,
    false,
    '`on` counts compute units by tenant, and names the tenant in log lines and spans, each time by a keyed hash.',
  ),
};
