import { SUPPORTS, supportedChains } from '../chains.ts';
import { expecting } from '../finding.ts';
import { ask, items, type Lookup } from '../lookup.ts';
import type { Point } from '../point.ts';
import { nameOf } from '../service.ts';
import { flag, integer, is, judge, listOf, observed, openSet, record, text, time } from '../shape.ts';

/** How far a service's index of a chain is, which no document has: only this project's own service says so. */
const index = observed(
  record(
    {},
    {
      head: integer,
      headTime: time,
      indexedFrom: integer,
      indexedTo: integer,
      behind: integer,
      problem: text,
    },
  ),
);

/** A chain's own currency, which no document has either. */
const native = observed(record({}, { symbol: text, name: text, decimals: integer, logo: text }));

/** The block explorer that the chain's data comes from: only this project's own service has such chains. */
const explorer = observed(record({ name: text }, { url: text }));

const support = record({ supported: flag });

/** Whether webhooks are offered for the chain: only this project's own service says so. */
const webhooks = observed(support);

const chain = record(
  {
    name: text,
    chain_id: is('a whole number', (value) => Number.isSafeInteger(value)),
    tags: listOf(openSet('default', 'mainnet', 'testnet', 'devnet', 'omni')),
  },
  { ...Object.fromEntries(SUPPORTS.map((lookup) => [lookup, support])), native, explorer, index, webhooks },
);

export const chains: Lookup = {
  ...supportedChains,
  method: 'GET',
  needsKey: false,
  source: 'documentation: Supported chains',
  errors: null,
  answer: record({ chains: listOf(chain) }),
  support: null,
  chains: 'none',
  list: { member: 'chains', identity: ({ chain_id }) => String(chain_id), limit: null, pages: false },
  find: async () => ({ path: {}, query: {} }),
};

const point = (expects: string, check: Point['check']): Point => ({
  operation: nameOf(chains),
  expects,
  source: chains.source,
  check,
});

export const chainPoints: readonly Point[] = [
  point('needs no key', async ({ service }) =>
    judge(
      is('200', (status) => status === 200),
      (await service.ask(chains, { key: null })).status,
    ),
  ),
  point('has each chain once, and some with the tag default', async (judged) => {
    const found = items(chains, await ask(judged, chains, { path: {}, query: {} }));
    const ids = found.map(({ chain_id }) => String(chain_id));
    const twice = ids.find((each, at) => ids.indexOf(each) !== at);
    const isDefault = found.some(({ tags }) => Array.isArray(tags) && tags.includes('default'));
    return [
      ...expecting(twice === undefined, 'each once', `${twice} twice`),
      ...expecting(isDefault, 'chains with the tag default', 'none'),
    ];
  }),
];
