import { z } from 'zod';
import { anyText, commaList, headerName, integer, isUnique, secrets } from '../kinds.ts';
import { type Kind, onlyWith, variable } from '../variable.ts';

/** Fewer characters could be guessed from a delivery URL. */
const MIN_DELIVERY_SECRET = 16;

const URL_VERSIONS = /^([A-Za-z0-9._~!*'()%-]+)=(\d{1,6})(?:\+(\d{1,6}))?$/;

/** Versions of tenants' delivery URLs: `acme=2`, or two with a plus between them, comma-separated. */
const urlVersions: Kind<ReadonlyMap<string, readonly number[]>> = {
  schema: commaList
    .pipe(z.array(z.string().regex(URL_VERSIONS)))
    .transform((entries) =>
      entries.map((entry) => {
        const [, tenant = '', ...versions] = URL_VERSIONS.exec(entry) ?? [];
        return [tenant, versions.filter((version) => version !== undefined).map(Number)] as const;
      }),
    )
    .refine(
      (entries) =>
        isUnique(entries.map(([tenant]) => tenant)) &&
        entries.every(([, versions]) => isUnique(versions) && versions.every((version) => version > 0)),
    )
    .transform((entries) => new Map<string, readonly number[]>(entries)),
  expected: 'versions of delivery URLs, comma-separated: tenant=2, or tenant=2+1 while version 1 is replaced',
  shows: (tenants) => [...tenants].map(([tenant, versions]) => `${tenant}=${versions.join('+')}`).join(),
};

/** What is delivered, and its log. */
export const DELIVERIES = {
  DATA_DIR: variable(
    anyText,
    './data',
    'Folder of the delivery log and its secret, and of the index of CHAINS, which is its folder `index`. Only one process may use it at a time. With REDIS_URL it is not used.',
    { isCommon: true, unused: (env) => (env.REDIS_URL ? 'not used with REDIS_URL' : null) },
  ),
  DELIVERY_SECRET: variable(
    secrets((secret) => secret.length >= MIN_DELIVERY_SECRET, `${MIN_DELIVERY_SECRET} characters`),
    null,
    `Signs delivery URLs, at least ${MIN_DELIVERY_SECRET} characters. Gateways with the same secret accept each other's URLs. Two secrets, comma-separated, allow [rotation](operations.md#rotation): the first signs, both verify. So a secret can't contain a comma. An installation's first secret also signs cursors and derives the tenants of keys, and is kept for that as its identity.`,
    { isCommon: true, isSecret: true, byDefault: 'made once, kept in DATA_DIR or Redis' },
  ),
  DELIVERY_URL_VERSIONS: variable(
    urlVersions,
    null,
    'Renews delivery URLs of [single tenants](operations.md#rotation), comma-separated: `acme=2`, or `acme=2+1` while version 1 is being replaced. The first version signs, both verify. Tenants are written as in their URLs, and have version 1 by default.',
  ),
  DELIVERY_SIGNATURE_SECRET: variable(
    { schema: commaList, expected: 'secrets, comma-separated' },
    null,
    'With it, each delivery must carry a valid HMAC-SHA256 of its raw body (hex or base64, with an optional `sha256=`). Several secrets, comma-separated, allow rotation.',
    { isSecret: true },
  ),
  DELIVERY_SIGNATURE_HEADER: variable(
    { ...headerName, shows: (name) => name.toLowerCase() },
    null,
    'The header of that signature.',
    {
      byDefault: 'the one whose name ends in `webhook-signature`',
      unused: onlyWith('DELIVERY_SIGNATURE_SECRET'),
    },
  ),
  DELIVERY_RETENTION_HOURS: variable(
    integer(1, 876_000, 'hours'),
    168,
    'How long the log keeps a delivery, per tenant.',
  ),
  DELIVERY_RETENTION_COUNT: variable(
    integer(1, 1_000_000_000),
    1_000_000,
    'How many deliveries the log keeps, per tenant.',
  ),
  DELIVERY_RETENTION_TOTAL: variable(
    integer(1, 1_000_000_000_000),
    null,
    'How many deliveries the log keeps of all tenants together: see [A limit for all tenants](delivery-log.md#a-limit-for-all-tenants).',
  ),
};
