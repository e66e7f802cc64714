import { expecting, type Finding, membersOf, note, Skipped, shown } from '../finding.ts';
import {
  ask,
  findAny,
  isOfWallets,
  items,
  type Lookup,
  largest,
  type Named,
  nowhere,
  someChain,
} from '../lookup.ts';
import { bodyOf, type Point, refusal, summary } from '../point.ts';
import { nameOf, type Operation } from '../service.ts';
import { judge } from '../shape.ts';
import { UNUSED } from '../wallets.ts';
import { manyChains, oneChain } from './chain-ids.ts';
import { transactions } from './transactions.ts';
import { walkInSteps, walkToTheEnd } from './walks.ts';

/** The points that the contract has for every lookup, as far as they concern it. */
export const pointsOfEvery = (lookup: Lookup): readonly Point[] =>
  [
    ...(lookup.needsKey ? [needsKey(lookup)] : []),
    ...(lookup.path.includes('{address}') ? [refusesAddress(lookup), takesAnyCase(lookup)] : []),
    ...(isOfWallets(lookup) ? [findsNothing(lookup)] : []),
    ...(lookup.unknown === undefined ? [] : [refusesUnknown(lookup, lookup.unknown)]),
    ...(lookup.chains === 'many' ? manyChains(lookup) : []),
    ...(lookup.chains === 'one' ? oneChain(lookup) : []),
    ...(lookup.list?.limit == null ? [] : limits(lookup, lookup.list.limit)),
    ...(lookup.list?.pages === true ? pages(lookup) : []),
    fields(lookup),
    ...(isPricedByChain(lookup) ? [defaultsPrice(lookup)] : []),
    price(lookup),
  ].map(([expects, check]) => ({ operation: nameOf(lookup), expects, source: lookup.source, check }));

const WRONG_KEY = 'not-a-key-of-this-service';

const needsKey = (lookup: Lookup): Named => [
  'answers 401 without a key and with a wrong one',
  async (judged) => {
    const asked = nowhere(lookup, await someChain(judged, lookup));
    const without = await judged.service.ask(lookup, { ...asked, key: null });
    const wrong = await judged.service.ask(lookup, { ...asked, key: WRONG_KEY });
    return [without, wrong].flatMap((answer) => [
      ...expecting(answer.status === 401, '401', summary(answer)),
      ...(answer.status === 401 ? refusal(answer, 401, 'error') : []),
    ]);
  },
];

const NO_ADDRESSES = ['0x1234', 'name.eth', `0x${'g'.repeat(40)}`];

const refusesAddress = (lookup: Lookup): Named => [
  'refuses what is no address',
  async (judged) => {
    const { path, query } = nowhere(lookup, await someChain(judged, lookup));
    const found: Finding[] = [];
    for (const text of NO_ADDRESSES) {
      const asked = { path: { ...path, address: text, token_address: text }, query };
      found.push(...refusal(await judged.service.ask(lookup, asked), 400, lookup.errors));
    }
    return found;
  },
];

const inCapitals = (text: string): string => text.toUpperCase().replace(/^0X/, '0x');

const takesAnyCase = (lookup: Lookup): Named => [
  'takes addresses in any case',
  async (judged) => {
    const { path, query } = await lookup.find(judged);
    const { address = '', ...rest } = path;
    const lower = items(lookup, await ask(judged, lookup, { path, query }));
    const asked = { path: { ...rest, address: inCapitals(address) }, query };
    const found = items(lookup, await ask(judged, lookup, asked));
    const identity = lookup.list?.identity ?? shown;
    // Something may have happened in between.
    const isSame = found.some((item) => lower.some((each) => identity(each) === identity(item)));
    return expecting(isSame, `the items of ${address}`, shown(found[0]));
  },
];

const findsNothing = (lookup: Lookup): Named => [
  'answers an empty list for a wallet that nobody has used',
  async (judged) => {
    const answer = await judged.service.ask(lookup, nowhere(lookup, await someChain(judged, lookup)));
    const found = items(lookup, answer);
    const next = membersOf(answer.json).next_offset ?? '';
    return [
      ...expecting(found.length === 0, 'no items', shown(found[0])),
      ...expecting(next === '', 'no next_offset', next),
    ];
  },
];

const refusesUnknown = (lookup: Lookup, unknown: NonNullable<Lookup['unknown']>): Named => [
  `refuses unknown values of ${Object.keys(unknown).join(', ')}, or ignores them`,
  async (judged) => {
    const where = await findAny(judged, lookup);
    const found: Finding[] = [];
    for (const [name, values] of Object.entries(unknown))
      for (const value of values) {
        const answer = await ask(judged, lookup, where, { [name]: value });
        const isIgnored = answer.status === 200;
        found.push(...(isIgnored ? [note('a refusal (400)', `200 for ${name}=${value}`)] : refusal(answer)));
      }
    return found;
  },
];

const limits = (
  lookup: Lookup,
  limit: { readonly default: number; readonly most: number },
): readonly Named[] => [
  [
    `answers at most ${limit.default} items without a limit`,
    async (judged) => {
      const found = items(lookup, await ask(judged, lookup, await lookup.find(judged)));
      const most = (await largest(judged, lookup)).length;
      return [
        ...expecting(found.length <= limit.default, `at most ${limit.default} items`, `${found.length}`),
        ...expecting(
          found.length >= Math.min(most, limit.default),
          `${Math.min(most, limit.default)} items, which there are`,
          `${found.length}`,
          'note',
        ),
      ];
    },
  ],
  [
    `reduces a limit above ${limit.most}`,
    async (judged) => {
      const query = { limit: String(limit.most + 1) };
      const found = items(lookup, await ask(judged, lookup, await findAny(judged, lookup), query));
      return expecting(found.length <= limit.most, `at most ${limit.most} items`, `${found.length}`);
    },
  ],
  [
    'refuses a limit that is no number',
    async (judged) => {
      const where = await findAny(judged, lookup);
      const found: Finding[] = [];
      for (const limit of ['ten', '1.5', ''])
        found.push(...refusal(await ask(judged, lookup, where, { limit })));
      return found;
    },
  ],
  [
    lookup.list?.pages === false ? 'raises a limit below 1' : 'refuses a limit below 1',
    async (judged) => {
      const where = await findAny(judged, lookup);
      const answers = [
        await ask(judged, lookup, where, { limit: '0' }),
        await ask(judged, lookup, where, { limit: '-1' }),
      ];
      return answers.flatMap((answer) => {
        if (lookup.list?.pages === false) {
          const { length } = items(lookup, answer);
          return expecting(length === 1, '1 item', `${length}`);
        }
        // The range is documented, but not what is answered outside of it.
        return answer.status === 200 ? [note('a refusal (400)', summary(answer))] : refusal(answer);
      });
    },
  ],
];

const pages = (lookup: Lookup): readonly Named[] => [
  [
    'ignores an offset that it has not issued',
    async (judged) => {
      const where = await lookup.find(judged);
      const issued = membersOf((await ask(judged, lookup, where, { limit: '5' })).json).next_offset;
      const found: Finding[] = [];
      for (const offset of ['made-up', ...(typeof issued === 'string' ? [`${issued}A`] : [])]) {
        const answer = await ask(judged, lookup, where, { limit: '5', offset });
        const first = items(lookup, await ask(judged, lookup, where, { limit: '5' }, { again: true }));
        // Documented for transactions alone.
        if (answer.status !== 200 && lookup.support !== 'transactions')
          found.push(...refusal(answer), note('the first page', summary(answer)));
        else {
          const [item] = items(lookup, answer);
          const identity = lookup.list?.identity ?? shown;
          const isFirst = item !== undefined && first.some((each) => identity(each) === identity(item));
          found.push(
            ...expecting(isFirst, 'the first page', item === undefined ? 'no items' : identity(item)),
          );
        }
      }
      return found;
    },
  ],
  ['has every item once in a walk of small pages', (judged) => walkInSteps(judged, lookup)],
  ['ends without a next_offset', (judged) => walkToTheEnd(judged, lookup)],
];

const fields = (lookup: Lookup): Named => [
  'has the documented fields in their forms',
  async (judged) => {
    const most = lookup.list?.limit?.most;
    const query = most === undefined ? {} : { limit: String(most) };
    return judge(lookup.answer, bodyOf(await ask(judged, lookup, await lookup.find(judged), query)));
  },
];

/** A compute unit a chain. What DeFi positions cost without chain ids is documented in two ways. */
const isPricedByChain = ({ chains, price: priceOf }: Lookup): boolean =>
  chains === 'many' && priceOf(1) === 1 && priceOf(2) === 2;

/** Without chain ids the bill grows with the service's chains, which surprises most. */
const defaultsPrice = (lookup: Lookup): Named => [
  'costs a compute unit for each default chain without chain_ids',
  async ({ chains, service }) => {
    const { length } = lookup.support === null ? [] : await chains.tagged('default', lookup.support);
    if (length === 0) throw new Skipped('no chain that supports it has the tag default');
    const asked = { path: { address: UNUSED }, query: { limit: '1' }, chains: length };
    const answer = await service.ask(lookup, asked);
    bodyOf(answer);
    const cost = answer.headers['x-compute-units-cost'];
    return cost === undefined
      ? [note('the header x-compute-units-cost', 'none')]
      : expecting(Number(cost) === length, `${length} compute units for ${length} chains`, cost);
  },
];

/** The bills of the requests that the other points made. */
const price = (lookup: Lookup): Named => [
  'costs the documented compute units, and nothing where it refuses',
  async (judged) => {
    // At least one request that is answered, and one that is refused.
    await ask(judged, lookup, await findAny(judged, lookup));
    if (lookup.path.includes('{address}')) {
      const { path, query } = nowhere(lookup, await someChain(judged, lookup));
      await judged.service.ask(lookup, { path: { ...path, address: '0x1234' }, query });
    }
    const bills = judged.service.bills.filter(({ operation }) => operation.path === lookup.path);
    const wrong = bills.find(({ stated, documented }) => stated !== null && stated !== documented);
    if (wrong !== undefined) return expecting(false, `${wrong.documented}`, `${wrong.stated}`);
    const stated = bills.filter((bill) => bill.stated !== null);
    return expecting(stated.length > 0, 'the header x-compute-units-cost', 'none', 'note');
  },
];

const free = () => 0;
const UNKNOWN: Operation = { method: 'GET', path: '/v1/evm/no-such-lookup', price: free };
const POSTED: Operation = { ...transactions, method: 'POST', price: free };

/** A point of no operation alone. */
const point = (expects: string, check: Point['check']): Point => ({
  operation: 'All operations',
  expects,
  source: 'documentation: Errors',
  check,
});

/** What all operations have in common. */
export const commonPoints: readonly Point[] = [
  point('answer 404 for an unknown path', async ({ service }) => refusal(await service.ask(UNKNOWN), 404)),
  point('answer 405 for another method', async ({ service }) =>
    refusal(await service.ask(POSTED, { path: { address: UNUSED }, body: {} }), 405),
  ),
  point('answer as application/json', async (judged) => {
    const { headers } = await ask(judged, transactions, await transactions.find(judged));
    const type = headers['content-type'] ?? 'nothing';
    return expecting(/^application\/json\b/.test(type), 'content-type application/json', type);
  }),
  point('answer concurrent requests each with its own', async (judged) => {
    const where = await transactions.find(judged);
    const places = [where, { ...where, path: { address: UNUSED } }];
    const answers = await Promise.all(
      [...places, ...places].map(async (place) => {
        const answer = await ask(judged, transactions, place, { limit: '5' }, { again: true });
        return { asked: place.path.address, body: membersOf(bodyOf(answer)) };
      }),
    );
    const wrong = answers.find(({ asked, body }) => {
      const found = Array.isArray(body.transactions) ? body.transactions : [];
      const isOwn = found.every((each) => String(membersOf(each).address).toLowerCase() === asked);
      return !isOwn || found.length > 0 !== (asked === where.path.address);
    });
    return expecting(wrong === undefined, `the transactions of ${wrong?.asked}`, wrong?.body);
  }),
];
