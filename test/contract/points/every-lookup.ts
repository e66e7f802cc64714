import { expecting, membersOf, note, Skipped, shown } from '../finding.ts';
import { ask, findAny, items, type Lookup, largest, someChain } from '../lookup.ts';
import { bodyOf, type Judged, type Point, refusal, summary } from '../point.ts';
import { nameOf, type Operation } from '../service.ts';
import { judge } from '../shape.ts';
import { UNUSED } from '../wallets.ts';
import { transactions } from './transactions.ts';
import { walkInSteps, walkToTheEnd } from './walks.ts';

type Check = Point['check'];
type Named = readonly [expects: string, check: Check];

/** The points that the contract has for every lookup, as far as they concern it. */
export const pointsOfEvery = (lookup: Lookup): readonly Point[] =>
  [
    ...(lookup.needsKey ? [needsKey(lookup)] : []),
    ...(lookup.path.includes('{address}') ? [refusesAddress(lookup)] : []),
    ...(lookup.chains === 'many' ? manyChains(lookup) : []),
    ...(lookup.chains === 'one' ? oneChain(lookup) : []),
    ...(lookup.list?.limit == null ? [] : limits(lookup, lookup.list.limit)),
    ...(lookup.list?.pages === true ? pages(lookup) : []),
    fields(lookup),
    ...(isPricedByChain(lookup) ? [defaultsPrice(lookup)] : []),
    price(lookup),
  ].map(([expects, check]) => ({ operation: nameOf(lookup), expects, source: lookup.source, check }));

const WRONG_KEY = 'not-a-key-of-this-service';

/** A request that is well-formed and finds nothing. */
const nowhere = ({ path, chains }: Lookup, chainId: number) => ({
  path: { address: UNUSED, token_address: UNUSED, chain_id: String(chainId) },
  query: {
    ...(chains !== 'none' && { chain_ids: String(chainId) }),
    ...(path.endsWith('/search/tokens') && { query: 'usd' }),
  },
});

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

const refusesAddress = (lookup: Lookup): Named => [
  'refuses what is no address',
  async (judged) => {
    const { path, query } = nowhere(lookup, await someChain(judged, lookup));
    const asked = { path: { ...path, address: '0x1234', token_address: '0x1234' }, query };
    return refusal(await judged.service.ask(lookup, asked), 400, lookup.errors);
  },
];

/** An id that no chain has. */
const NO_CHAIN = '999999999999';

const chainsIn = async ({ chains }: Judged, found: readonly Readonly<Record<string, unknown>>[]) => {
  const all = await chains.all();
  return new Set(
    found.map(({ chain_id, chain }) => chain_id ?? all.find(({ name }) => name === chain)?.id ?? chain),
  );
};

const manyChains = (lookup: Lookup): readonly Named[] => {
  // A bare list has no room for warnings.
  const isBare = lookup.list?.member === null;
  return [...chainFilter(lookup), ...(isBare ? [] : [namesUnsupported(lookup)])];
};

const chainFilter = (lookup: Lookup): readonly Named[] => [
  [
    'answers of the chain that is asked for, and of no other',
    async (judged) => {
      const { query } = await lookup.find(judged);
      const answered = [...(await chainsIn(judged, await largest(judged, lookup)))];
      const wanted = Number(query.chain_ids);
      return expecting(
        answered.every((id) => id === wanted),
        `items of chain ${wanted}`,
        answered,
      );
    },
  ],
  [
    'takes ids and tags together',
    async (judged) => {
      const where = await lookup.find(judged);
      const { support } = lookup;
      const all = (await judged.chains.all()).filter(
        ({ supports }) => support === null || supports.has(support),
      );
      const ids = (tag: string) => all.filter(({ tags }) => tags.includes(tag)).map(({ id }) => id);
      const tags = [...new Set(all.flatMap((chain) => chain.tags))];
      // The one that costs least.
      const tag = tags.toSorted((one, other) => ids(one).length - ids(other).length)[0];
      if (tag === undefined) throw new Skipped('no chain has a tag');
      const asked = new Set([Number(where.query.chain_ids), ...ids(tag)]);
      const chain_ids = `${where.query.chain_ids},${tag}`;
      const answer = await ask(judged, lookup, where, { chain_ids }, { chains: asked.size });
      const answered = [...(await chainsIn(judged, items(lookup, answer)))];
      return [
        ...expecting(
          answered.every((id) => asked.has(Number(id))),
          `items of chains ${[...asked].join(', ')}`,
          answered,
        ),
        ...expecting(answered.length > 0, 'items', 'none'),
      ];
    },
  ],
  [
    'does not take the name of a chain',
    async (judged) => {
      const [chain] = await judged.chains.all();
      const asked = nowhere(lookup, await someChain(judged, lookup));
      const chain_ids = chain?.name ?? 'ethereum';
      const defaults =
        lookup.support === null ? 1 : (await judged.chains.tagged('default', lookup.support)).length;
      const answer = await judged.service.ask(lookup, {
        ...asked,
        query: { ...asked.query, chain_ids },
        chains: defaults,
      });
      return answer.status === 200 ? [note('a refusal (400)', '200: the name is ignored')] : refusal(answer);
    },
  ],
];

const namesUnsupported = (lookup: Lookup): Named => [
  'names chains that it does not support',
  async (judged) => {
    const where = await findAny(judged, lookup);
    const chain_ids = `${where.query.chain_ids},${NO_CHAIN}`;
    const answer = await ask(judged, lookup, where, { chain_ids });
    if (answer.status !== 200) return refusal(answer, 404);
    const warnings = membersOf(answer.json).warnings;
    const isNamed = Array.isArray(warnings) && warnings.some((warning) => isUnsupported(warning));
    return expecting(isNamed, `a warning UNSUPPORTED_CHAIN_IDS of ${NO_CHAIN}, or 404`, { warnings });
  },
];

const isUnsupported = (warning: unknown): boolean => {
  const { code, message, chain_ids } = membersOf(warning);
  if (code !== 'UNSUPPORTED_CHAIN_IDS' || typeof message !== 'string') return false;
  return chain_ids === undefined || (Array.isArray(chain_ids) && chain_ids.map(String).includes(NO_CHAIN));
};

const oneChain = (lookup: Lookup): readonly Named[] => [
  [
    'needs exactly one chain',
    async (judged) => {
      const { path, query } = await lookup.find(judged);
      const { chain_ids, ...rest } = query;
      const without = refusal(await judged.service.ask(lookup, { path, query: rest }), 400, lookup.errors);
      const other = (await judged.chains.all()).find(({ id }) => String(id) !== chain_ids);
      if (other === undefined) return without;
      const asked = { path, query: { ...rest, chain_ids: `${chain_ids},${other.id}` }, chains: 2 };
      const several = await judged.service.ask(lookup, asked);
      return [
        ...without,
        ...(several.status === 200
          ? [note('a refusal of two chains', '200')]
          : refusal(several, 400, lookup.errors)),
      ];
    },
  ],
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
    async (judged) => refusal(await ask(judged, lookup, await findAny(judged, lookup), { limit: 'ten' })),
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
      const answer = await ask(judged, lookup, where, { limit: '5', offset: 'made-up' });
      // Documented for transactions alone.
      if (answer.status !== 200 && lookup.support !== 'transactions')
        return refusal(answer).concat(note('the first page', summary(answer)));
      const first = items(lookup, await ask(judged, lookup, where, { limit: '5' }, { again: true }));
      const [item] = items(lookup, answer);
      const identity = lookup.list?.identity ?? shown;
      const isFirst = item !== undefined && first.some((each) => identity(each) === identity(item));
      return expecting(isFirst, 'the first page', item === undefined ? 'no items' : identity(item));
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
  'costs the documented compute units',
  async (judged) => {
    // At least one request that is answered.
    await ask(judged, lookup, await findAny(judged, lookup));
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
