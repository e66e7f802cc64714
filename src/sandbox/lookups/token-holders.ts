import { checksum } from 'ox/Address';
import type { Holder } from '../chain-data.ts';
import { address, limit, Refused } from '../http/query.ts';
import type { Hex } from '../types.ts';
import { isoSeconds } from './assets.ts';
import { type Lookup, paged } from './lookup.ts';

const MAX_HOLDERS = 500;

const byBalance = (one: Holder, other: Holder): number => {
  if (one.amount !== other.amount) return one.amount > other.amount ? -1 : 1;
  return one.account < other.account ? -1 : 1;
};

/** The service writes some addresses in the mixed case of EIP-55, and others in lower case. */
const mixedCase = (account: Hex): string => (/[02468ace]$/.test(account) ? checksum(account) : account);

/** The holders of one ERC-20, the greatest first. An offset is the last balance, so that pages shift with balances. */
export const tokenHolders: Lookup = {
  path: '/v1/evm/token-holders/{chain_id}/{address}',
  errors: 'coded',
  computeUnits: () => 2,
  answer(asked) {
    const { data, path, query } = asked;
    const chain = data.chains.find(({ id }) => String(id) === path.chain_id);
    if (chain === undefined || chain.unsupported.includes('token_holders'))
      throw new Refused(400, `Unsupported chain id: ${path.chain_id}`);
    const token = address(path.address, 'Invalid token address');
    const count = limit(query, MAX_HOLDERS, MAX_HOLDERS);
    const holders = data.holders(chain.id, token);
    if (holders === null) throw new Refused(404, 'Token not found');
    const { page, next } = paged(asked, ['holders', chain.id, token], [...holders].sort(byBalance), {
      limit: count,
      placeOf: ({ amount, account }) => [amount.toString(), account],
      isAfter: ({ amount, account }, [balance = 0, last = '']) =>
        amount < BigInt(balance) || (amount === BigInt(balance) && account > String(last)),
    });
    const items = page.map(({ account, amount, acquiredAt, hasSent }) => ({
      wallet_address: mixedCase(account),
      balance: amount.toString(),
      first_acquired: isoSeconds(acquiredAt),
      has_initiated_transfer: hasSent,
    }));
    return { body: { token_address: token, chain_id: chain.id, holders: items, ...next }, chains: 1 };
  },
};
