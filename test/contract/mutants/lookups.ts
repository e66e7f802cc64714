import { said } from '../support/bending-proxy.ts';
import {
  answering,
  asking,
  each,
  ignoring,
  instead,
  items,
  json,
  type Mutant,
  OTHER,
  UNUSED,
} from '../support/bends.ts';

const TRANSACTIONS = /evm\/transactions/;
const TRANSACTION = /evm\/transaction\//;
const NAME = /evm\/name\//;
const COLLECTIBLES = /evm\/collectibles/;
const BALANCES = /evm\/balances\/\{address\}$/;
const STABLECOINS = /stablecoins$/;
const BALANCE = /token_address\}$/;
const ACTIVITY = /evm\/activity/;
const INFO = /token-info/;
const HOLDERS = /token-holders/;
const SEARCH = /search/;

const always = () => true;
const all = (change: Parameters<typeof each>[1]) => answering(always, (answer) => each(answer, change));
const reversed = answering(always, (answer) => items(answer, (list) => list.toReversed()));
const of = (member: string, value: unknown) =>
  answering(always, (answer) => json(answer, (body) => ({ ...body, [member]: value })));

/** Servers that break a promise of one lookup. */
export const LOOKUPS: readonly Mutant[] = [
  ['has the oldest first', reversed, /transactions|activity/, ['orders']],
  [
    'answers of another wallet',
    all((item) => Object.assign(item, { address: OTHER })),
    TRANSACTIONS,
    ['says whose'],
  ],
  [
    'adds test networks',
    answering(
      ({ query }) => query.size === 0,
      (answer) => each(answer, (item) => Object.assign(item, { chain: 'sepolia' })),
    ),
    TRANSACTIONS,
    ['answers of the default'],
  ],
  [
    'decodes always',
    asking((query) => {
      if (!query.has('decode')) query.set('decode', 'true');
    }),
    TRANSACTIONS,
    ['decodes nothing'],
  ],
  [
    'decodes without inputs',
    answering(
      ({ query }) => query.has('decode'),
      (answer) => each(answer, (item) => Object.assign(item, { decoded: { name: 'transfer', inputs: 1 } })),
    ),
    TRANSACTIONS,
    ['decodes calls'],
  ],
  [
    'takes any decode',
    asking((query) => {
      if (query.has('decode')) query.set('decode', 'true');
    }),
    TRANSACTIONS,
    ['refuses a decode'],
  ],

  [
    'makes up a transaction for any hash',
    instead(({ path }) => path.endsWith('abab'), said(200, { transaction: { hash: '0xabab' } })),
    TRANSACTION,
    ['answers null'],
  ],
  [
    'takes any hash',
    instead(({ path }) => path.endsWith('/0xabcd'), said(200, { transaction: null })),
    TRANSACTION,
    ['refuses what is no hash'],
  ],
  [
    'names every wallet',
    answering(always, (answer) => json(answer, (body) => ({ ...body, name: 'any.eth' }))),
    NAME,
    ['answers null'],
  ],
  [
    'says of a transaction something else than the list',
    answering(
      ({ path }) => path.includes('/transaction/'),
      (answer) => json(answer, (body) => ({ transaction: { ...Object(body.transaction), fee: '0x1' } })),
    ),
    TRANSACTION,
    ['answers what the list'],
  ],

  [
    'shows spam',
    asking((query) => query.set('filter_spam', 'false')),
    COLLECTIBLES,
    ['hides spam', 'explains'],
  ],
  [
    'hides more than spam',
    answering(
      ({ query }) => !query.has('filter_spam'),
      (answer) => items(answer, (list) => list.slice(1)),
    ),
    COLLECTIBLES,
    ['hides spam'],
  ],
  [
    'hides more where it explains',
    answering(
      ({ query }) => query.has('show_spam_scores'),
      (answer) => items(answer, (list) => list.slice(1)),
    ),
    COLLECTIBLES,
    ['explains'],
  ],
  ['explains nothing', ignoring('show_spam_scores'), COLLECTIBLES, ['explains']],
  [
    'explains by numbers',
    all((item) => Object.assign(item, { explanations: [1] })),
    COLLECTIBLES,
    ['explains'],
  ],
  ['answers of another wallet', of('address', OTHER), COLLECTIBLES, ['says whose']],

  ['answers of another wallet', of('wallet_address', OTHER), BALANCES, ['says whose']],
  [
    'repeats a balance',
    answering(always, (answer) => items(answer, (list) => [...list, ...list.slice(0, 1)])),
    BALANCES,
    ['has each asset'],
  ],
  ['values wrongly', all((item) => Object.assign(item, { value_usd: 7 })), BALANCES, ['values amounts']],
  ['ignores filters', ignoring('filters'), BALANCES, ['filters by']],
  ['has no prices', all((item) => delete item.price_usd), BALANCES, ['leaves out what']],
  ['leaves spam in', all((item) => Object.assign(item, { pool_size: 9 })), BALANCES, ['leaves out pools']],
  ['knows no earlier prices', ignoring('historical_prices'), BALANCES, ['has the prices']],
  [
    'has other hours',
    asking((query) => {
      if (query.has('historical_prices')) query.set('historical_prices', '1,24');
    }),
    BALANCES,
    ['has the prices'],
  ],
  [
    'gives everyone a token',
    answering(
      ({ path }) => path.includes(UNUSED),
      (answer) => items(answer, () => [{ address: OTHER }]),
    ),
    BALANCE,
    ['answers an empty list for a token'],
  ],
  [
    'answers of another token',
    answering(
      ({ path }) => path.includes('/token/'),
      (answer) => items(answer, () => [{ address: OTHER }]),
    ),
    BALANCE,
    ['answers the balance', 'takes native'],
  ],
  [
    'adds to the stablecoins',
    answering(
      ({ path }) => STABLECOINS.test(path),
      (answer) => items(answer, (list) => [...list, { address: OTHER }]),
    ),
    STABLECOINS,
    ['is part of'],
  ],
  ['ignores asset_class', ignoring('asset_class'), STABLECOINS, ['is part of']],

  [
    'ignores filters',
    ignoring('activity_type', 'asset_type', 'token_address'),
    ACTIVITY,
    ['filters by', 'takes token_address'],
  ],
  [
    'takes one value of a filter alone',
    asking((query) => {
      for (const [name, value] of [...query]) query.set(name, String(value.split(',')[0]));
    }),
    ACTIVITY,
    ['filters by activity_type', 'filters by asset_type'],
  ],
  ['values wrongly', all((item) => Object.assign(item, { value_usd: 7 })), ACTIVITY, ['values amounts']],
  [
    'finds nothing behind filters',
    answering(
      ({ query }) => query.has('activity_type'),
      (answer) => items(answer, () => []),
    ),
    ACTIVITY,
    ['filters by activity_type'],
  ],

  ['answers of another token', of('contract_address', OTHER), INFO, ['answers about', 'takes native']],
  [
    'knows every token',
    instead(({ path }) => path.includes(UNUSED), said(200, { tokens: [{}], holders: [{}] })),
    /token-(?:info|holders)/,
    ['answers 404'],
  ],
  [
    'values its supply wrongly',
    all((item) => Object.assign(item, { fully_diluted_value: 7 })),
    INFO,
    ['has the price'],
  ],
  [
    'knows the native asset',
    instead(({ path }) => path.includes('native'), said(200, {})),
    HOLDERS,
    ['does not take native'],
  ],
  ['has the least first', reversed, HOLDERS, ['answers the holders']],
  [
    'knows every chain',
    instead(({ path }) => path.includes('999999999999'), said(200, {})),
    HOLDERS,
    ['refuses a chain'],
  ],
  [
    'minds the case',
    answering(
      ({ query }) => /[A-Z]/.test(query.get('query') ?? ''),
      (answer) => items(answer, () => []),
    ),
    SEARCH,
    ['finds a token'],
  ],
  ['finds nothing', answering(always, (answer) => items(answer, () => [])), SEARCH, ['finds a token']],
  [
    'finds by 2 characters',
    asking((query) => {
      if (query.get('query') === 'us') query.set('query', 'usd');
    }),
    SEARCH,
    ['answers an empty list'],
  ],
  ['needs no query', instead(({ query }) => query.size === 0, said(200, [])), SEARCH, ['refuses a missing']],

  [
    'adds up wrongly',
    of('aggregations', { total_value_usd: 1, total_by_chain: {} }),
    /positions/,
    ['adds its positions'],
  ],
  [
    'replaces families by previews',
    instead(
      ({ query }) => query.has('include_preview_chains'),
      said(200, { protocol_families: [{ family: 'other' }] }),
    ),
    /protocols/,
    ['shows previews'],
  ],
  [
    'shows previews always',
    asking((query) => query.set('include_preview_chains', 'true')),
    /protocols/,
    ['shows previews'],
  ],
];
