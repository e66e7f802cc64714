import { isIP } from 'node:net';
import { z } from 'zod';
import { isNetwork } from '../server/http/client-address.ts';
import type { Kind } from './variable.ts';

/** The kinds of values that several variables have. */

export const isUnique = (values: readonly unknown[]): boolean => new Set(values).size === values.length;

/** Whether an address or a name to listen on is loopback. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/** An integer in decimal digits. */
export const integer = (min: number, max: number, unit?: string): Kind<number> => ({
  schema: z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .pipe(z.number().min(min).max(max)),
  expected: `an integer from ${min} to ${max}`,
  ...(unit !== undefined && { unit }),
});

/** A duration of up to a day, or as `max` says. */
export const milliseconds = (min = 0, max = 86_400_000): Kind<number> => integer(min, max, 'ms');

export const onOff: Kind<boolean> = {
  schema: z.enum(['on', 'off']).transform((text) => text === 'on'),
  expected: 'on or off',
};

export const oneOf = <const Name extends string>(names: readonly Name[]): Kind<Name> => ({
  schema: z.enum(names),
  expected: `one of ${names.join(', ')}`,
});

export const anyText: Kind<string> = { schema: z.string(), expected: 'a text' };

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

/** Comma-separated values of one shape. */
export const listOf = (
  shape: RegExp,
  expected: string,
  most = Number.POSITIVE_INFINITY,
): Kind<readonly string[]> => ({
  schema: commaList.pipe(z.array(z.string().regex(shape)).max(most)),
  expected,
});

/** A URL without user, password and query, which may give access. */
export const withoutAccess = (url: string): string =>
  url.replace(/\/\/[^/?#]*@/, '//(access)@').replace(/\?.*$/s, '?(query)');

/** It is read without trailing slashes. */
export const httpUrl: Kind<string> = {
  schema: z
    .url({ protocol: /^https?$/ })
    .transform((text) => new URL(text))
    .refine((url) => !url.username && !url.password && !url.search && !url.hash)
    .transform((url) => url.href.replace(/\/+$/, '')),
  expected: 'an http or https URL without credentials, query or fragment',
  shows: withoutAccess,
};

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
export const headerName: Kind<string> = {
  schema: z
    .string()
    .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/)
    .refine((name) => !OWN_HEADERS.has(name.toLowerCase())),
  expected: 'the name of an HTTP header',
};

/** The key of an API, as a header can carry it. */
export const apiKey: Kind<string> = {
  schema: z.string().regex(/^[\x21-\x7e]{1,4096}$/),
  expected: 'printable characters without spaces',
};

/** A secret, or two different ones, comma-separated: the second one is being replaced, or about to replace the first. */
export const secrets = (
  isLongEnough: (secret: string) => boolean,
  least: string,
): Kind<readonly [string, ...string[]]> => ({
  schema: z
    .string()
    .transform((text) => (text.includes(',') ? text.split(',').map((part) => part.trim()) : [text]))
    .pipe(z.tuple([z.string()], z.string()))
    .refine((list) => list.length <= 2 && isUnique(list) && list.every(isLongEnough)),
  expected: `a secret, or two, comma-separated, of at least ${least} each (a comma always separates two)`,
});

/** Web origins as browsers send them. */
export const origins: Kind<readonly string[]> = {
  schema: commaList.refine((list) =>
    list.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin),
  ),
  expected: 'origins (scheme://host[:port]), comma-separated',
};

/** IP addresses and networks. */
export const networks: Kind<readonly string[]> = {
  schema: commaList.refine((list) => list.every(isNetwork)),
  expected: 'IP addresses or networks (10.0.0.0/8), comma-separated',
};
