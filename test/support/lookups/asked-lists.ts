import fc from 'fast-check';
import { getNamedType, isObjectType } from 'graphql';
import { lookups } from '../../../src/lookups/registry.ts';
import { schema } from '../../../src/schema.ts';
import { createChainPricing } from '../../../src/upstream/client/request.ts';
import type { AnyLookup } from '../../../src/upstream/lookup.ts';
import type { SeenRequest } from '../upstream/fake-service.ts';
import { sampleOf } from './samples.ts';

/** The lists of all lookups, as a document may ask for them, and what the service bills for their pages. */

/** A list of a wallet or of a token, with its arguments. */
type AskedList = { readonly name: string; readonly args: string };

const DEFAULT_PARENT = 'wallet(address: $address)';

const argumentsOf = ({ name }: AnyLookup) =>
  ['Wallet', 'Token'].flatMap((parent) => {
    const type = schema.getType(parent);
    return (isObjectType(type) && type.getFields()[name]?.args) || [];
  });

/** Any list: of up to two pages and a half, of `chains` where it takes them, and with any of its flags. */
export const anyList = (chains: readonly string[]): fc.Arbitrary<AskedList> =>
  fc.oneof(
    ...lookups.map((lookup) => {
      const { pageSizes, maxItems } = lookup;
      const names = argumentsOf(lookup);
      const flags = names
        .filter(({ type }) => getNamedType(type).name === 'Boolean')
        .map(({ name }) => `${name}: true`);
      const takesChains = names.some(({ name }) => name === 'chainIds');
      const most = Math.min(maxItems, Math.floor(pageSizes.newest + 1.5 * pageSizes.older));
      return fc
        .record({
          first: fc.oneof(fc.integer({ min: 0, max: most }), fc.constant(2)),
          chain: fc.constantFrom(...(takesChains ? chains : [''])),
          flag: fc.constantFrom('', ...flags),
        })
        .map(({ first, chain, flag }) => ({ name: lookup.name, args: `first: ${first} ${chain} ${flag}` }));
    }),
  );

/** Selects lists of an address: those of its wallet from the field `wallet` makes, others from fields with this alias. */
export const selectLists = (
  lists: readonly AskedList[],
  { address, alias }: { readonly address: string; readonly alias: string },
  wallet: (selection: string) => string,
): string => {
  const fields = lists.map(({ name, args }, index) => {
    const { parent = DEFAULT_PARENT, key } = sampleOf({ name });
    const selection = index % 2 === 0 ? 'edges { cursor }' : `nodes { ${key[0]} }`;
    return { parent, text: `l${index}: ${name}(${args}) { ${selection} }` };
  });
  return [...Map.groupBy(fields, ({ parent }) => parent)]
    .map(([parent, group]) => {
      const selection = group.map(({ text }) => text).join(' ');
      if (parent === DEFAULT_PARENT) return wallet(selection);
      return `${alias}: ${parent.replace('$address', `"${address}"`)} { ${selection} }`;
    })
    .join(' ');
};

const pricing = createChainPricing(14);

/** What the service bills for the page of a list. */
export const priceOfPage = (lookup: AnyLookup, { query }: Pick<SeenRequest, 'query'>): number =>
  lookup.priceOf(1, query.get('chain_ids'), pricing);
