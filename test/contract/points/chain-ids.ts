import { expecting, type Finding, LONGEST, membersOf, note, Skipped } from '../finding.ts';
import { ask, findAny, items, type Lookup, largest, type Named, nowhere, someChain } from '../lookup.ts';
import { type Judged, refusal, summary } from '../point.ts';
import type { Answer } from '../service.ts';

/** The points on `chain_ids`, which all lookups share. */

/** An id that no chain has. */
const NO_CHAIN = '999999999999';

const chainsIn = async ({ chains }: Judged, found: readonly Readonly<Record<string, unknown>>[]) => {
  const all = await chains.all();
  return new Set(
    found.map(({ chain_id, chain }) => chain_id ?? all.find(({ name }) => name === chain)?.id ?? chain),
  );
};

/** The points of lookups of any number of chains. */
export const manyChains = (lookup: Lookup): readonly Named[] => {
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
      const chain_ids = `${where.query.chain_ids},${tag},${where.query.chain_ids}`;
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
    'does not take what is neither an id nor a tag',
    async (judged) => {
      const [chain] = await judged.chains.all();
      const { path, query } = nowhere(lookup, await someChain(judged, lookup));
      const id = query.chain_ids;
      const defaults =
        lookup.support === null ? 1 : (await judged.chains.tagged('default', lookup.support)).length;
      const found: Finding[] = [];
      for (const chain_ids of [chain?.name ?? 'ethereum', `${id},`, `${id}.0`, `0x${id}`, '-1', '']) {
        const asked = { path, query: { ...query, chain_ids }, chains: defaults };
        const answer = await judged.service.ask(lookup, asked);
        found.push(...refusedOrIgnored(lookup, answer, chain_ids));
      }
      return found;
    },
  ],
];

const refusedOrIgnored = (lookup: Lookup, answer: Answer, chainIds: string): readonly Finding[] =>
  answer.status === 200
    ? [note('a refusal (400)', `200: ${chainIds} is ignored`)]
    : refusal(answer, 400, lookup.errors);

const namesUnsupported = (lookup: Lookup): Named => [
  'names chains that it does not support, and answers of the others alone',
  async (judged) => {
    const where = await findAny(judged, lookup);
    const known = items(lookup, await ask(judged, lookup, where));
    const mixed = await ask(judged, lookup, where, { chain_ids: `${where.query.chain_ids},${NO_CHAIN}` });
    const alone = await ask(judged, lookup, where, { chain_ids: NO_CHAIN }, { chains: 0 });
    return [mixed, alone].flatMap((answer) => {
      if (answer.status !== 200) return refusal(answer, 404, lookup.errors);
      const warnings = membersOf(answer.json).warnings;
      const isNamed = Array.isArray(warnings) && warnings.some((warning) => isUnsupported(warning));
      const hasItems = items(lookup, answer).length > 0;
      return [
        ...expecting(isNamed, `a warning UNSUPPORTED_CHAIN_IDS of ${NO_CHAIN}, or 404`, { warnings }),
        ...expecting(
          hasItems === (answer === mixed && known.length > 0),
          answer === mixed ? 'the items of the other chain' : 'no items of no chain',
          answer.text.slice(0, LONGEST),
        ),
      ];
    });
  },
];

const isUnsupported = (warning: unknown): boolean => {
  const { code, message, chain_ids } = membersOf(warning);
  if (code !== 'UNSUPPORTED_CHAIN_IDS' || typeof message !== 'string') return false;
  return chain_ids === undefined || (Array.isArray(chain_ids) && chain_ids.map(String).includes(NO_CHAIN));
};

/** The points of lookups of exactly one chain. */
export const oneChain = (lookup: Lookup): readonly Named[] => [
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
      const tag = await ask(judged, lookup, { path, query: rest }, { chain_ids: 'default' }, { chains: 2 });
      const unknown = await ask(
        judged,
        lookup,
        { path, query: rest },
        { chain_ids: NO_CHAIN },
        { chains: 0 },
      );
      return [
        ...without,
        ...refusedOrIgnored(lookup, several, 'the second chain'),
        ...refusedOrIgnored(lookup, tag, 'a tag'),
        ...(unknown.status === 200
          ? expecting(items(lookup, unknown).length === 0, 'no items of no chain', summary(unknown))
          : refusal(unknown, 400, lookup.errors)),
      ];
    },
  ],
];
