import { z } from 'zod';
import type { Chain } from '../chains/known-chains.ts';
import { isNetwork } from '../lib/ip-address.ts';

/** The values of environment variables, as zod schemas. */

/** An integer in decimal digits from `min` to `max`. */
export const integerIn = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,12}$/)
    .transform(Number)
    .pipe(z.number().min(min).max(max));

/** Without credentials, query and fragment; it is read without trailing slashes. */
export const httpUrl = z
  .url({ protocol: /^https?$/ })
  .transform((text) => new URL(text))
  .refine((url) => !url.username && !url.password && !url.search && !url.hash)
  .transform((url) => url.href.replace(/\/+$/, ''));

/** Headers that a request needs for itself. They can't carry a key. */
const OWN_HEADERS = new Set([
  'accept',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'transfer-encoding',
  'upgrade',
]);

/** The name of an HTTP header that can carry a key or a signature. */
export const headerName = z
  .string()
  .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/)
  .refine((name) => !OWN_HEADERS.has(name.toLowerCase()));

/** The key of an API, as a header can carry it. */
export const headerValue = z.string().regex(/^[\x21-\x7e]{1,4096}$/);

/** Comma-separated values, at least one. */
export const commaList = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean),
  )
  .pipe(z.array(z.string()).min(1));

/** A secret, or two different ones, comma-separated: the second one is being replaced, or about to replace the first. */
export const secretsOf = (isLongEnough: (secret: string) => boolean) =>
  z
    .string()
    .transform((text) => (text.includes(',') ? text.split(',').map((part) => part.trim()) : [text]))
    .pipe(z.tuple([z.string()], z.string()))
    .refine((secrets) => secrets.length <= 2 && isUnique(secrets) && secrets.every(isLongEnough));

const URL_VERSIONS = /^([A-Za-z0-9._~!*'()%-]+)=(\d{1,6})(?:\+(\d{1,6}))?$/;

/** Versions of tenants' delivery URLs: `acme=2`, or two with a plus between them, comma-separated. */
export const urlVersions = commaList
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
  .transform((entries) => new Map<string, readonly number[]>(entries));

/** Web origins as browsers send them, comma-separated. */
export const origins = commaList.refine((list) =>
  list.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin),
);

/** IP addresses and networks, comma-separated. */
export const networks = commaList.refine((list) => list.every(isNetwork));

const CHAIN_NAME = '[A-Za-z][A-Za-z0-9_-]{0,63}';
const CHAIN = new RegExp(`^\\d{1,16}:${CHAIN_NAME}(?::${CHAIN_NAME})*$`);

/** Ids, names and tags of chains: `4242:newchain:mainnet,434343:other`. Each id and each name is unique. */
export const extraChains = commaList
  .pipe(z.array(z.string().regex(CHAIN)))
  .transform((entries) => entries.map(readChain))
  .refine((chains) => chains.every(({ chainId }) => Number.isSafeInteger(chainId)))
  .refine(
    (chains) => isUnique(chains.map(({ chainId }) => chainId)) && isUnique(chains.map(({ name }) => name)),
  );

const readChain = (entry: string): Chain => {
  const [chainId, name = '', ...tags] = entry.split(':');
  return { chainId: Number(chainId), name, tags };
};

const isUnique = (values: readonly unknown[]): boolean => new Set(values).size === values.length;
