import { address, oneChain, Refused } from '../http/query.ts';
import type { Lookup } from './lookup.ts';

/** The primary name of a wallet on exactly one chain; null when it has none. Only this project's own service has this lookup. */
export const name: Lookup = {
  path: '/v1/evm/name/{address}',
  errors: 'message',
  computeUnits: (chains) => Math.min(1, chains),
  async answer({ data, path, query }) {
    const wallet = address(path.address, 'Invalid address: expected 0x and 40 hexadecimal digits');
    const { chains, unsupported } = oneChain(query, data.chains, 'names');
    const [chain] = chains;
    if (chain === undefined) throw new Refused(400, `Unsupported chain id: ${unsupported}`);
    const body = { wallet_address: wallet, chain_id: chain.id, name: await data.name(wallet, chain.id) };
    return { body, chains: 1 };
  },
};
