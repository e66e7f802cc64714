import { said } from '../support/bending-proxy.ts';
import {
  answering,
  asking,
  each,
  failing,
  type Item,
  ignoring,
  instead,
  items,
  json,
  type Mutant,
  OTHER,
  padded,
  UNUSED,
} from '../support/bends.ts';

const EVERY = /./;
const always = () => true;
const WHALE = '0xc7928e7865fb684cc7629937d4064aa69989eab4';

/** Repeats the last item of a page on the next one. */
const repeating = () => {
  let last: Item | undefined;
  return (list: Item[], isFirst: boolean): Item[] => {
    const repeated = isFirst || last === undefined ? list : [last, ...list.slice(1)];
    last = list.at(-1);
    return repeated;
  };
};
const repeated = repeating();

const SOME_ITEMS = {
  ...{ transactions: [{}], activity: [{}], balances: [{}], positions: [{}], tokens: [{}] },
  warnings: [{ code: 'UNSUPPORTED_CHAIN_IDS', message: '' }],
};

/** Servers that break what holds for all lookups. */
export const EVERY_LOOKUP: readonly Mutant[] = [
  ['knows every path', instead(({ path }) => path.includes('no-such'), said(200, {})), EVERY, ['answer 404']],
  [
    'takes every method',
    {
      request: (passing) =>
        void (passing.path.startsWith('/v1/') && Object.assign(passing, { method: 'GET' })),
    },
    EVERY,
    ['answer 405'],
  ],
  [
    'mixes requests up',
    { request: (passing) => void Object.assign(passing, { path: passing.path.replace(UNUSED, WHALE) }) },
    EVERY,
    ['answer concurrent'],
  ],
  [
    'needs no key',
    { request: ({ headers }) => void Object.assign(headers, { 'x-service-api-key': 'sandbox' }) },
    EVERY,
    ['answers 401'],
  ],
  [
    'takes any address',
    instead(({ path }) => path.includes('0x1234'), said(200, {})),
    /v1/,
    ['refuses what is no address'],
  ],
  [
    'minds the case of addresses',
    answering(
      ({ path }) => /0x[0-9A-F]*[A-F]/.test(path),
      (answer) => {
        items(answer, () => []);
        json(answer, (body) => ('name' in body ? { ...body, name: null } : body));
      },
    ),
    EVERY,
    ['takes addresses'],
  ],
  [
    'gives everyone something',
    answering(
      ({ path }) => path.includes(UNUSED),
      (answer) => items(answer, () => [{ address: OTHER }]),
    ),
    EVERY,
    ['answers an empty list for a'],
  ],
  [
    'fails at unknown words',
    instead(
      ({ query }) =>
        ['erc721', 'nft', 'everything', 'transfer', 'USDC', 'yes', '4,3,2,1'].some((word) =>
          query.values().toArray().includes(word),
        ),
      said(500, {}),
    ),
    EVERY,
    ['refuses unknown values'],
  ],
  ['ignores chain_ids', ignoring('chain_ids'), /./, ['answers of the chain that']],
  [
    'has items of an unknown chain',
    instead(({ query }) => query.get('chain_ids') === '999999999999', said(200, SOME_ITEMS)),
    /activity|balances\/|positions|transactions|token-info/,
    ['names chains', 'needs exactly one'],
  ],
  [
    'answers nothing where a chain is unknown',
    answering(
      ({ query }) => /,999999999999$/.test(query.get('chain_ids') ?? ''),
      (answer) => items(answer, () => []),
    ),
    /activity|balances\/\{address\}$|transactions/,
    ['names chains'],
  ],
  [
    'takes one chain alone',
    instead(({ query }) => /,/.test(query.get('chain_ids') ?? ''), said(400, 'one')),
    EVERY,
    ['takes ids'],
  ],
  [
    'fails at names of chains',
    failing('chain_ids', (value) => /^[a-z_]+$/.test(value)),
    EVERY,
    ['does not take what'],
  ],
  [
    'is silent about unsupported chains',
    asking((query) => {
      if (query.has('chain_ids'))
        query.set('chain_ids', String(query.get('chain_ids')).replace(',999999999999', ''));
    }),
    EVERY,
    ['names chains'],
  ],
  [
    'chooses a chain by itself',
    asking((query) => {
      if (!query.has('chain_ids')) query.set('chain_ids', '1');
    }),
    EVERY,
    ['needs exactly one'],
  ],
  [
    'has endless pages',
    {
      answer: (answer, { query }) =>
        items(answer, (list) => padded(list, Number(query.get('limit') ?? 3_000))),
    },
    EVERY,
    ['answers at most', 'reduces a limit'],
  ],
  [
    'takes any limit',
    asking((query) => {
      if (!/^-?\d*$/.test(query.get('limit') ?? '')) query.delete('limit');
    }),
    EVERY,
    ['refuses a limit that'],
  ],
  [
    'fails at small limits',
    failing('limit', (value) => /^(?:0|-\d+)$/.test(value)),
    EVERY,
    ['refuses a limit below', 'raises a limit'],
  ],
  [
    'takes any offset',
    answering(
      ({ query }) => query.get('offset') === 'made-up',
      (answer) => items(answer, () => []),
    ),
    EVERY,
    ['ignores an offset'],
  ],
  [
    'loses an item between pages',
    answering(
      ({ query }) => query.has('offset'),
      (answer) => items(answer, (list) => list.slice(1)),
    ),
    EVERY,
    ['has every item'],
  ],
  [
    'repeats an item on the next page',
    { answer: (answer, { query }) => items(answer, (list) => repeated(list, !query.has('offset'))) },
    EVERY,
    ['has every item'],
  ],
  [
    'never ends',
    answering(always, (answer) => json(answer, (body) => ({ next_offset: 'made-up', ...body }))),
    EVERY,
    ['ends without'],
  ],
  [
    'charges more',
    {
      answer({ headers }) {
        headers['x-compute-units-cost'] = String(Number(headers['x-compute-units-cost']) + 1);
      },
    },
    EVERY,
    ['costs'],
  ],
  [
    'charges for refusals',
    answering(always, (answer) => {
      if (answer.status === 400) answer.headers['x-compute-units-cost'] = '1';
    }),
    /\/\{address\}/,
    ['costs the documented'],
  ],
  [
    'says that its answers are text',
    answering(always, ({ headers }) => Object.assign(headers, { 'content-type': 'text/plain' })),
    EVERY,
    ['answer as application'],
  ],
  [
    'hides its chains',
    instead(({ headers }) => !('x-service-api-key' in headers), said(401, {})),
    /supported-chains/,
    ['needs no key'],
  ],
  [
    'has no default chains',
    answering(
      ({ path }) => path.endsWith('-chains'),
      (answer) => each(answer, (chain) => Object.assign(chain, { tags: [] })),
    ),
    /supported-chains/,
    ['has each chain once'],
  ],
];
