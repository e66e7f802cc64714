import { sourceProblems } from './index-config.ts';
import { isLoopback } from './kinds.ts';
import type { Values } from './table.ts';
import type { Environment } from './variable.ts';
import { CLIENTS } from './variables/clients.ts';

/** What variables expect of each other. `read` has the values of those that are valid, with their defaults. */

type Rule = (env: Environment, read: Values) => readonly string[];

/** With `open` any client uses the gateway's key, so beyond loopback it must be set explicitly. */
export const authOf = (env: Environment, { AUTH }: Values): 'open' | 'key' | 'jwt' => {
  const holdsKey = Boolean(env.UPSTREAM_API_KEY) || !env.UPSTREAM_URL;
  return AUTH ?? (holdsKey ? 'open' : 'key');
};

const given = (env: Environment, names: readonly string[]): readonly string[] =>
  names.filter((name) => env[name]);

/**
 * Without UPSTREAM_URL, CHAINS and BLOCKSCOUT the sandbox replaces upstream. In production a missing UPSTREAM_URL is more likely a mistake, which
 * would show simulated wallets to real users: there SANDBOX=on must ask for the sandbox.
 */
const source: Rule = (env, { SANDBOX }) => {
  const own = given(env, ['CHAINS', 'BLOCKSCOUT']);
  const others = [...given(env, ['UPSTREAM_URL']), ...own];
  if (others.length > 0)
    return [
      ...(env.UPSTREAM_URL ? own.map((name) => `${name}: expected no UPSTREAM_URL beside it, got both`) : []),
      ...(SANDBOX === true
        ? [`SANDBOX: expected no ${others.join(' and no ')} beside it when it is on, got both`]
        : []),
    ];
  const isMissed = SANDBOX === false || (!env.SANDBOX && env.NODE_ENV === 'production');
  if (!isMissed) return [];
  const when = SANDBOX === false ? 'SANDBOX is off' : 'NODE_ENV is production';
  return [
    `UPSTREAM_URL: expected the URL of upstream, or CHAINS or BLOCKSCOUT, when ${when}, got none; SANDBOX=on asks for the sandbox`,
  ];
};

/** What makes a gateway follow chains, which one of many can't do for the others. */
const followed = (env: Environment): readonly string[] => [
  ...given(env, ['CHAINS']),
  ...(env.BLOCKSCOUT_LIVE === 'on' ? ['BLOCKSCOUT_LIVE'] : []),
];

const index: Rule = (env, read) => {
  const [own] = given(env, ['CHAINS', 'BLOCKSCOUT']);
  if (own === undefined) return [];
  return [
    ...sourceProblems(read),
    ...(env.REDIS_URL ? followed(env) : []).map(
      (name) =>
        `REDIS_URL: expected UPSTREAM_URL beside it, of one service that \`npm run service\` starts for all gateways, got ${name}, which each would follow for itself`,
    ),
    ...(env.DELIVERY_SIGNATURE_HEADER
      ? [
          `DELIVERY_SIGNATURE_HEADER: expected none beside ${own}, whose service has a header of its own, got one`,
        ]
      : []),
  ];
};

const JWT_NAMES = Object.keys(CLIENTS).filter((name) => name.startsWith('JWT_'));

const auth: Rule = (env, read) => {
  const mode = authOf(env, read);
  const isValid = !env.AUTH || read.AUTH !== null;
  const problems: string[] = [];
  if (mode === 'open' && !env.AUTH && !isLoopback(read.HOST))
    problems.push(
      `HOST: expected a loopback address or an explicit AUTH=open, got ${JSON.stringify(read.HOST)}: any client that reaches it could use the gateway's key`,
    );
  const lacksKey = read.UPSTREAM_API_KEY === null;
  const [own] = given(env, ['CHAINS', 'BLOCKSCOUT']);
  if (mode === 'key' && own !== undefined && lacksKey)
    problems.push(`AUTH: expected UPSTREAM_API_KEY beside ${own} when it is key, got none`);
  if (mode !== 'key' && read.AUTH !== null && read.UPSTREAM_URL !== null && lacksKey)
    problems.push(`AUTH: expected UPSTREAM_API_KEY beside UPSTREAM_URL when it is ${mode}, got none`);
  if (mode === 'jwt') {
    if (Boolean(env.JWT_SECRET) === Boolean(env.JWT_JWKS_URL))
      problems.push(
        `JWT_SECRET, JWT_JWKS_URL: expected one of them when AUTH is jwt, got ${env.JWT_SECRET ? 'both' : 'neither'}`,
      );
  } else if (isValid)
    for (const name of given(env, JWT_NAMES))
      problems.push(`${name}: expected AUTH=jwt beside it, got ${mode}`);
  return problems;
};

/** Several workers share a log, which only Redis can hold for them, and one service. */
const workers: Rule = (env, { WORKERS }) => {
  if (WORKERS === 1) return [];
  if (!env.REDIS_URL)
    return [`WORKERS: expected REDIS_URL beside it when it is ${WORKERS}, got none: workers share its log`];
  if (env.UPSTREAM_URL || env.CHAINS || env.BLOCKSCOUT) return [];
  return [
    `WORKERS: expected UPSTREAM_URL beside it when it is ${WORKERS}, got none: each worker would start a sandbox of its own, where \`npm run sandbox\` starts one for all`,
  ];
};

const needsRedis = (env: Environment, name: string, isMeant: boolean): readonly string[] =>
  isMeant && !env.REDIS_URL ? [`${name}: expected REDIS_URL beside it, got none`] : [];

export const redisProblems = (
  env: Environment,
  { REDIS_MIN_REPLICAS, REDIS_CACHE_URL }: Pick<Values, 'REDIS_MIN_REPLICAS' | 'REDIS_CACHE_URL'>,
): readonly string[] => [
  ...needsRedis(env, 'REDIS_MIN_REPLICAS', REDIS_MIN_REPLICAS > 0),
  ...needsRedis(env, 'REDIS_CACHE_URL', REDIS_CACHE_URL !== null),
];

const signature: Rule = (env) =>
  env.DELIVERY_SIGNATURE_HEADER && !env.DELIVERY_SIGNATURE_SECRET
    ? ['DELIVERY_SIGNATURE_HEADER: expected DELIVERY_SIGNATURE_SECRET beside it, got none']
    : [];

const agents: Rule = (env, { MCP }) => {
  if (MCP === false) return env.MCP_TOOLS ? ['MCP_TOOLS: expected MCP=on beside it, got none'] : [];
  return env.TRUSTED_DOCUMENTS
    ? []
    : ['MCP: expected TRUSTED_DOCUMENTS beside it, whose operations are the tools, got none'];
};

const RULES: readonly Rule[] = [source, index, signature, auth, redisProblems, workers, agents];

/** What is wrong with variables beside each other. */
export const problemsBetween = (env: Environment, read: Values): readonly string[] =>
  RULES.flatMap((rule) => rule(env, read));
