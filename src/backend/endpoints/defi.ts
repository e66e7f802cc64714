import { address, chainChoice, flag } from '../http/query.ts';
import { type Lookup, scopeOf, warnings } from './lookup.ts';

const sum = (values: readonly { readonly value_usd: number }[]): number =>
  values.reduce((total, { value_usd }) => total + value_usd, 0);

/** A wallet's DeFi positions, all in one answer. The aggregations are absent when there are none. */
export const defiPositions: Lookup = {
  path: '/v1/evm/defi/positions/{address}',
  errors: 'error',
  numbers: 'pointed doubles',
  computeUnits: (chains) => 4 * chains,
  async answer(asked) {
    const { data, now, path, query } = asked;
    const wallet = address(path.address, 'Invalid user address');
    const { chains, unsupported } = chainChoice(query, data.chains, 'defi_positions');
    const positions = await data.defiPositions(wallet, new Set(scopeOf(chains)), now());
    const byChain = Object.groupBy(positions, ({ chain_id }) => chain_id);
    const aggregations = {
      total_value_usd: sum(positions),
      total_by_chain: Object.fromEntries(Object.entries(byChain).map(([id, some = []]) => [id, sum(some)])),
    };
    const body = {
      positions,
      ...(positions.length > 0 && { aggregations }),
      ...warnings('DeFi positions', unsupported, asked),
    };
    return { body, chains: chains.length };
  },
};

export const supportedProtocols: Lookup = {
  path: '/v1/evm/defi/supported-protocols',
  errors: 'error',
  computeUnits: () => 1,
  answer({ data, query }) {
    const withChains = flag(query, 'include_preview_chains', false);
    const withProtocols = flag(query, 'include_preview_protocols', false);
    const families = data.protocols.flatMap(({ family, chains, forks }) => {
      const isPreview = chains.every((each) => each.isPreview);
      const shown = chains.filter((each) => isPreview || withChains || !each.isPreview);
      if (isPreview && !withProtocols) return [];
      return [{ family, chains: shown.map(chainItem), sub_protocols: forks }];
    });
    return { body: { protocol_families: families }, chains: 0 };
  },
};

const chainItem = ({ chain, isPreview }: { chain: { id: number; name: string }; isPreview: boolean }) => ({
  chain_id: chain.id,
  chain_name: chain.name,
  status: isPreview ? 'preview' : 'stable',
});
