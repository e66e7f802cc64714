import { z } from 'zod';
import { itemLookups, lookups } from '../../lookups/registry.ts';
import { commaList, integer, isUnique, milliseconds } from '../kinds.ts';
import { type Kind, type ValuesOf, type Variable, variable } from '../variable.ts';

/** How many times CACHE_HEAD_MS the newest page of each lookup is fresh that CACHE_NEWEST_MS may name. */
export const TIMES_HEAD: { readonly [lookup: string]: number } = Object.fromEntries(
  [...lookups, ...itemLookups].flatMap(({ name, timesHead }) =>
    timesHead === undefined ? [] : [[name, timesHead]],
  ),
);

const NAMES = Object.keys(TIMES_HEAD);
const NEWEST = new RegExp(`^(?:${NAMES.join('|')})\\s*=\\s*\\d{1,12}$`);

/** A day. */
const MAX_MS = 86_400_000;

/** `collectibles=30000,holders=0`. Each lookup at most once. */
const newestPages: Kind<{ readonly [lookup: string]: number }> = {
  schema: commaList
    .pipe(z.array(z.string().regex(NEWEST)))
    .transform((entries) => entries.map((entry) => entry.split(/\s*=\s*/)))
    .refine((entries) => isUnique(entries.map(([name]) => name)))
    .transform(
      (entries): Readonly<Record<string, number>> =>
        Object.fromEntries(entries.map(([name = '', ms]) => [name, Number(ms)])),
    )
    .refine((newest) => Object.values(newest).every((ms) => ms <= MAX_MS)),
  expected: `lookup=milliseconds, comma-separated, each of ${NAMES.join(', ')} at most once`,
  shows: (newest) =>
    Object.entries(newest)
      .map(([name, ms]) => `${name}=${ms}`)
      .join(),
};

const perHead = NAMES.map((name) => `${TIMES_HEAD[name]} for ${name}`).join(', ');

/** Lookups that had a variable of their own, by its name. */
const NAMED_ALONE = {
  CACHE_COLLECTIBLES_MS: 'collectibles',
  CACHE_BALANCES_MS: 'balances',
  CACHE_HOLDERS_MS: 'holders',
  CACHE_MARKET_MS: 'market',
  CACHE_SEARCH_MS: 'search',
  CACHE_DEFI_POSITIONS_MS: 'defiPositions',
} as const;

type OldNames = { readonly [name in keyof typeof NAMED_ALONE]: Variable<number, null> };

const OLD_NAMES = Object.fromEntries(
  Object.entries(NAMED_ALONE).map(([name, lookup]) => [
    name,
    variable(milliseconds(), null, `How long the newest page of ${lookup} stays fresh.`, {
      replacedBy: `CACHE_NEWEST_MS=${lookup}=…`,
    }),
  ]),
) as OldNames;

/** What old names say of the newest pages of their lookups. */
export const newestByOldNames = (read: ValuesOf<OldNames>): { readonly [lookup: string]: number } =>
  Object.fromEntries(
    (Object.keys(NAMED_ALONE) as (keyof OldNames)[]).flatMap((name) =>
      read[name] === null ? [] : [[NAMED_ALONE[name], read[name]]],
    ),
  );

/** How long pages stay fresh. 0 turns each of them off. */
export const CACHE = {
  CACHE_HEAD_MS: variable(
    milliseconds(),
    2000,
    "How long a wallet's newest page of transactions and of activity stays fresh. 0 turns it off.",
  ),
  CACHE_NEWEST_MS: variable(
    newestPages,
    {},
    'How long the newest page of each other lookup stays fresh, in milliseconds: `collectibles=30000,holders=0`, comma-separated, where 0 turns it off. One that is not named has its default, which is longer where things change rarely or a request [costs much](caching-and-cost.md#fewest-requests). A delivery that names the wallet ends its pages at once; prices move without one.',
    { byDefault: `CACHE_HEAD_MS times ${perHead}` },
  ),
  CACHE_TAIL_MS: variable(
    milliseconds(),
    60_000,
    'How long the older pages of all lists stay fresh. 0 turns it off.',
  ),
  CACHE_STALE_MS: variable(
    milliseconds(),
    300_000,
    'Maximum age of a page that is served when the service fails (stale-if-error). 0 turns it off.',
  ),
  CACHE_WATCHED_MS: variable(
    milliseconds(),
    30_000,
    "How long a wallet's newest page of transactions or of activity stays fresh while its events are [delivered here](caching-and-cost.md#watched-wallets), unless a delivery names it; and any page of a service that [tells of its changes](caching-and-cost.md#a-service-that-tells-of-its-changes), unless one concerns it. 0 turns it off.",
  ),
  CACHE_MAX_MB: variable(integer(0, 1_000_000, 'MB'), 256, 'Approximate memory of the page cache.'),
  ...OLD_NAMES,
};
