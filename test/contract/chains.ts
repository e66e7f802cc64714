import { Differs, differs, itemsOf, membersOf, shown } from './finding.ts';
import type { Operation, Service } from './service.ts';

/** The list of chains, which needs no key and costs nothing. */
export const supportedChains: Operation = {
  method: 'GET',
  path: '/v1/evm/supported-chains',
  price: () => 0,
};

/** What a chain may support, under the names that the list uses. */
export const SUPPORTS = [
  'balances',
  'transactions',
  'transaction',
  'activity',
  'token_info',
  'token_holders',
  'collectibles',
  'approvals',
  'names',
  'defi_positions',
] as const;

export type ChainLookup = (typeof SUPPORTS)[number];

export type Chain = {
  readonly id: number;
  readonly name: string;
  readonly tags: readonly string[];
  readonly supports: ReadonlySet<string>;
};

/** The chains of the service, which are asked for once. */
export type Chains = {
  /** @throws Differs when the answer is not a list of chains. */
  all(): Promise<readonly Chain[]>;
  /** The chains with a tag that support a lookup. */
  tagged(tag: string, lookup: ChainLookup): Promise<readonly Chain[]>;
};

export const createChains = (service: Service): Chains => {
  const all = async (): Promise<readonly Chain[]> => {
    const { json } = await service.ask(supportedChains);
    const found = itemsOf(membersOf(json).chains).flatMap(({ chain_id, name, tags, ...flags }) => {
      if (typeof chain_id !== 'number' || typeof name !== 'string') return [];
      const supports = new Set(SUPPORTS.filter((lookup) => membersOf(flags[lookup]).supported === true));
      return { id: chain_id, name, tags: Array.isArray(tags) ? tags.map(String) : [], supports };
    });
    if (found.length === 0)
      throw new Differs(
        differs('a list of chains with their ids, names, tags and what they support', shown(json), 'chains'),
      );
    return found;
  };
  return {
    all,
    tagged: async (tag, lookup) =>
      (await all()).filter(({ tags, supports }) => tags.includes(tag) && supports.has(lookup)),
  };
};
