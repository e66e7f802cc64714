import fc from 'fast-check';
import type { Hex } from '../../../../src/backend/types.ts';
import type { Contract } from './contracts.ts';

/** Random transactions of some users with contracts of every standard. */

export const USERS = 6;
export const NFT_IDS = 12;
export const ITEM_IDS = 5;

/** Coins whose events do not say what accounts have. */
export const ODD_COINS = ['rebasing', 'fee', 'premint', 'spoof'] as const;

export type Contracts = Readonly<
  Record<
    | ('coin' | 'other' | 'wrapped' | 'art' | 'items' | 'payer' | 'creator')
    | ('staked' | 'staking' | 'multisig' | 'hybrid' | 'indexed' | 'plain' | 'kitties' | 'series' | 'punks')
    | (typeof ODD_COINS)[number],
    Contract
  >
>;
type Mined = { readonly to: Hex | undefined; readonly data: Hex; readonly value?: bigint };

const user = fc.nat(USERS - 1);
const nft = fc.nat(NFT_IDS - 1).map(BigInt);
const item = fc.nat(ITEM_IDS - 1).map(BigInt);
const amount = fc.oneof(fc.constantFrom(0n, 1n), fc.bigInt(0n, 2_000n), fc.constant(2n ** 128n));
const batch = fc.uniqueArray(fc.tuple(item, fc.bigInt(0n, 30n)), { maxLength: 4, selector: ([id]) => id });
const coinName = fc.constantFrom('coin' as const, 'other' as const);

/** Calls of contracts whose logs can be read in several ways. */
const oddAction = fc.oneof(
  fc.constantFrom('staked' as const, 'indexed' as const, 'plain' as const).chain((name) =>
    fc.tuple(fc.constantFrom('mint', 'transfer'), user, amount).map(([method, to, value]) => ({
      ...{ name, method, args: [{ user: to }, value] },
    })),
  ),
  fc.tuple(fc.constantFrom('stake', 'unstake'), amount).map(([method, value]) => ({
    ...{ name: 'staked' as const, method, args: [value] },
  })),
  amount.map((value) => ({
    ...{ name: 'coin' as const, method: 'approve', args: [{ contract: 'staking' as const }, value] },
  })),
  fc.tuple(fc.constantFrom('deposit', 'withdraw'), amount).map(([method, value]) => ({
    ...{ name: 'staking' as const, method, args: [value] },
  })),
  fc.constant({ name: null, method: 'pay', args: [{ contract: 'multisig' as const }], value: 7n }),
  fc.tuple(fc.constantFrom('mint', 'transferOne'), user).map(([method, to]) => ({
    ...{ name: 'hybrid' as const, method, args: [{ user: to }] },
  })),
  fc.constant({ name: 'hybrid' as const, method: 'burnOne', args: [] }),
  fc.tuple(fc.constantFrom('mint', 'transfer'), user, nft).map(([method, to, id]) => ({
    ...{ name: 'kitties' as const, method, args: [{ user: to }, id] },
  })),
  fc.tuple(user, user, nft).map(([from, to, id]) => ({
    ...{ name: 'series' as const, method: 'transferFrom', args: [{ user: from }, { user: to }, id] },
  })),
  user.map((to) => ({ name: 'series' as const, method: 'mint', args: [{ user: to }] })),
  nft.map((id) => ({ name: 'series' as const, method: 'burn', args: [id] })),
  fc
    .tuple(fc.constantFrom('getPunk', 'buyPunk', 'enterBidForPunk', 'acceptBidForPunk'), nft)
    .map(([method, id]) => ({ name: 'punks' as const, method, args: [id] })),
  fc.tuple(user, nft).map(([to, id]) => ({
    ...{ name: 'punks' as const, method: 'transferPunk', args: [{ user: to }, id] },
  })),
);

/** A call with two users, an amount and an id: many fail, and are mined all the same. */
const action = fc.oneof(
  { weight: 12, arbitrary: oddAction },
  ...(['transfer', 'mint', 'approve'] as const).map((method) =>
    fc
      .tuple(coinName, user, amount)
      .map(([name, to, value]) => ({ name, method, args: [{ user: to }, value] })),
  ),
  fc.tuple(coinName, amount).map(([name, value]) => ({ name, method: 'burn', args: [value] })),
  fc.tuple(coinName, user, user, amount).map(([name, from, to, value]) => ({
    ...{ name, method: 'transferFrom', args: [{ user: from }, { user: to }, value] },
  })),
  fc.bigInt(0n, 5_000n).map((value) => ({ name: 'wrapped' as const, method: 'deposit', args: [], value })),
  amount.map((value) => ({ name: 'wrapped' as const, method: 'withdraw', args: [value] })),
  fc.tuple(user, amount).map(([to, value]) => ({
    ...{ name: 'wrapped' as const, method: 'transfer', args: [{ user: to }, value] },
  })),
  fc.tuple(user, nft).map(([to, id]) => ({
    ...{ name: 'art' as const, method: 'mint', args: [{ user: to }, id, 'ipfs://none'] },
  })),
  ...[0, 1].map(() =>
    fc.tuple(user, user, nft).map(([from, to, id]) => ({
      ...{ name: 'art' as const, method: 'transferFrom', args: [{ user: from }, { user: to }, id] },
    })),
  ),
  nft.map((id) => ({ name: 'art' as const, method: 'burn', args: [id] })),
  fc.tuple(user, nft).map(([to, id]) => ({
    ...{ name: 'art' as const, method: 'approve', args: [{ user: to }, id] },
  })),
  fc.tuple(user, item, fc.bigInt(0n, 50n)).map(([to, id, value]) => ({
    ...{ name: 'items' as const, method: 'mint', args: [{ user: to }, id, value] },
  })),
  fc.tuple(user, batch).map(([to, moved]) => ({
    name: 'items' as const,
    method: 'mintBatch',
    args: [{ user: to }, moved.map(([id]) => id), moved.map(([, value]) => value)],
  })),
  fc.tuple(user, user, item, fc.bigInt(0n, 30n)).map(([from, to, id, value]) => ({
    ...{ name: 'items' as const, method: 'safeTransferFrom' },
    args: [{ user: from }, { user: to }, id, value, '0x'],
  })),
  fc.tuple(user, user, batch).map(([from, to, moved]) => ({
    ...{ name: 'items' as const, method: 'safeBatchTransferFrom' },
    args: [{ user: from }, { user: to }, moved.map(([id]) => id), moved.map(([, value]) => value), '0x'],
  })),
  fc.tuple(user, item, fc.bigInt(0n, 30n)).map(([from, id, value]) => ({
    ...{ name: 'items' as const, method: 'burn', args: [{ user: from }, id, value] },
  })),
  ...(['transfer', 'mint'] as const).map((method) =>
    fc
      .tuple(fc.constantFrom(...ODD_COINS), user, amount)
      .map(([name, to, value]) => ({ name, method, args: [{ user: to }, value] })),
  ),
  fc.nat(400).map((percent) => ({ name: 'rebasing' as const, method: 'rebase', args: [BigInt(percent)] })),
  fc.tuple(user, user, amount).map(([from, to, value]) => ({
    ...{ name: 'spoof' as const, method: 'pretend', args: [{ user: from }, { user: to }, value] },
  })),
  fc.uniqueArray(user, { minLength: 1, maxLength: 3 }).map((to) => ({
    ...{ name: 'payer' as const, method: 'split', args: [to.map((at) => ({ user: at }))], value: 900n },
  })),
  fc.constant({ name: 'creator' as const, method: 'create', args: ['Made', 'MADE'] }),
  user.map((to) => ({ name: null, method: 'pay', args: [{ user: to }], value: 7n })),
  fc.constant({ name: null, method: 'create', args: [] }),
);
type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never;

/** An action of a user, and whether a block is made after it. */
export const step = fc.record({ from: user, action, endsBlock: fc.constantFrom(true, false, false, false) });

export type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** An argument in which users and contracts are their addresses. */
const named = (value: unknown, contracts: Contracts, users: readonly Hex[]): unknown => {
  if (Array.isArray(value)) return value.map((each) => named(each, contracts, users));
  if (typeof value !== 'object' || value === null) return value;
  if ('user' in value) return users[Number(value.user)];
  const [, contract] =
    Object.entries(contracts).find(([name]) => 'contract' in value && name === value.contract) ?? [];
  return contract?.address ?? value;
};

/** Code that returns no code. */
const EMPTY_CREATION: Hex = '0x60006000f3';

/** What an action sends. */
export const minedOf = (
  { name, method, args, ...rest }: Action,
  contracts: Contracts,
  users: readonly Hex[],
): Mined => {
  const values = args.map((arg) => named(arg, contracts, users));
  if (name !== null)
    return { to: contracts[name].address, data: contracts[name].data(method, ...values), ...rest };
  if (method === 'create') return { to: undefined, data: EMPTY_CREATION };
  return { to: values[0] as Hex, data: '0x', ...rest };
};
