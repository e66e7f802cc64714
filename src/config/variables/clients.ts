import { z } from 'zod';
import { SCOPES, type Scope } from '../../scopes.ts';
import {
  anyText,
  commaList,
  integer,
  isLoopback,
  listOf,
  oneOf,
  onOff,
  secrets,
  withoutAccess,
} from '../kinds.ts';
import { type Kind, variable } from '../variable.ts';

const MODES = ['open', 'key', 'jwt'] as const;

/** The length of the hash of HS256. A shorter secret can be guessed from a token. */
const MIN_SECRET_BYTES = 32;

/** Plain http is for loopback only: an attacker that can change the keys in transit can make tokens. */
const keySetUrl: Kind<string> = {
  schema: z
    .url({ protocol: /^https?$/ })
    .transform((text) => new URL(text))
    .refine((url) => !url.username && !url.password && !url.hash)
    .refine(({ protocol, hostname }) => protocol === 'https:' || isLoopback(hostname.replace(/^\[|\]$/g, '')))
    .transform((url) => url.href),
  expected: 'an https URL, or an http one of a loopback address, without credentials or fragment',
  shows: withoutAccess,
};

/** Without what lists, headers and messages are made of. */
const CLAIM_PATH = /^[\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,255}$/;

const claimPath: Kind<string> = {
  schema: z.string().regex(CLAIM_PATH),
  expected: 'the name of a claim, or a path such as realm_access.roles',
};

const claimPaths = listOf(
  CLAIM_PATH,
  'names of claims, or paths such as realm_access.roles, comma-separated',
);

/** Each with what the issuer calls it. */
const scopeNames: Kind<readonly (readonly [scope: Scope, name: string])[]> = {
  schema: commaList.pipe(
    z.array(
      z
        .string()
        .regex(/^[a-z]+=[^\s=][^\s]*$/)
        .transform((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)])
        .pipe(z.tuple([z.enum(SCOPES), z.string()])),
    ),
  ),
  expected: `pairs such as wallets=gateway/wallets, comma-separated, of ${SCOPES.join(', ')}`,
  shows: (pairs) => pairs.map((pair) => pair.join('=')).join(','),
};

const operationNames = commaList.pipe(z.array(z.string().regex(/^[A-Za-z_]\w*$/)));

/** How clients authenticate, and what they may ask for. */
export const CLIENTS = {
  AUTH: variable(oneOf(MODES), null, '`open`, `key` or `jwt`: see [Authentication](authentication.md).', {
    isCommon: true,
    byDefault: '`open` with a gateway key, CHAINS, BLOCKSCOUT or the sandbox, else `key`',
    example: 'jwt',
  }),
  JWT_SECRET: variable(
    secrets((secret) => Buffer.byteLength(secret) >= MIN_SECRET_BYTES, `${MIN_SECRET_BYTES} bytes`),
    null,
    `Verifies tokens: AUTH=jwt needs this or JWT_JWKS_URL. At least ${MIN_SECRET_BYTES} bytes. Two secrets, comma-separated, allow [rotation](operations.md#rotation), so a secret can't contain a comma.`,
    { isSecret: true },
  ),
  JWT_JWKS_URL: variable(
    keySetUrl,
    null,
    'The https URL of a JSON Web Key Set that verifies tokens, in the place of JWT_SECRET.',
    { isSecret: true, example: 'https://issuer.example.com/keys' },
  ),
  JWT_ISSUER: variable(anyText, null, 'What `iss` of a token must be.'),
  JWT_AUDIENCE: variable(anyText, null, 'What `aud` of a token must contain.', { example: 'gateway' }),
  JWT_SCOPES_CLAIM: variable(
    claimPaths,
    null,
    'The claims of a token that have its scopes, comma-separated, each as a path such as `realm_access.roles`: see [Tokens of other issuers](authentication.md#tokens-of-other-issuers).',
    { byDefault: '`scope`', example: 'scp' },
  ),
  JWT_SCOPES: variable(
    scopeNames,
    null,
    "How the issuer calls the gateway's scopes, as `wallets=gateway/wallets,deliveries=gateway/events`. A scope that is not among them is not granted.",
    {
      byDefault: 'the names of the scopes themselves',
      example: 'wallets=gateway/wallets,deliveries=gateway/events',
    },
  ),
  JWT_TENANT_CLAIM: variable(
    claimPath,
    null,
    'The claim of a token that has its tenant, as a path such as `organization.id`.',
    { byDefault: '`tenant`', example: 'org_id' },
  ),
  CLIENT_COMPUTE_UNITS_PER_MINUTE: variable(
    integer(1, 1_000_000_000, 'CU'),
    null,
    "Budget of one client: a key, a token's subject, or with `open` an IP address (behind a proxy, TRUSTED_PROXIES makes it the client's). An IPv6 client is its /64. An operation is charged its estimate, then [its real cost](caching-and-cost.md#what-a-request-costs), even if its client leaves. With REDIS_URL the budget is [shared by all gateways](many-machines.md#one-budget).",
    { example: '1000' },
  ),
  MAX_COMPUTE_UNITS: variable(
    integer(1, 1_000_000_000, 'CU'),
    500,
    "Maximum cost of one operation. It is estimated before the operation runs, and enforced during the run for what an estimate can't know: the search for a cursor's item, and pages that the service does not fill.",
  ),
  MAX_ANSWER_MB: variable(
    integer(1, 256, 'MB'),
    32,
    'Maximum size of one answer, or of one event of a subscription. It is estimated beforehand and enforced while the answer is made: see [The size of an answer](errors-and-limits.md#the-size-of-an-answer).',
  ),
  MAX_SOCKETS: variable(
    integer(1, 1_000_000),
    20_000,
    'Maximum number of open WebSockets, and of open event streams.',
  ),
  MAX_WATCHED_WALLETS: variable(
    integer(1, 2000),
    100,
    'Wallets that one tenant may [watch](webhooks-and-deliveries.md#watching-a-wallet), at most 2000.',
  ),
  TRUSTED_DOCUMENTS: variable(
    anyText,
    null,
    'Path of a JSON file of `{sha256 hex: document}`. Only these documents run: see [Trusted documents](security.md#trusted-documents).',
  ),
  MCP: variable(
    {
      schema: z.union([onOff.schema, operationNames]),
      expected: 'on, off, or names of operations, comma-separated',
    },
    false,
    '`on` serves every trusted query that has a name to [agents](agents.md), as tools at `/mcp`. Names of operations, comma-separated, make tools of these alone; only so can mutations become tools. It needs TRUSTED_DOCUMENTS.',
  ),
  MCP_TOOLS: variable(
    { schema: operationNames, expected: 'names of operations, comma-separated' },
    null,
    'Names of the operations that are tools.',
    { replacedBy: 'MCP, which takes the names as its value' },
  ),
};
