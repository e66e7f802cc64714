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
    | ('staked' | 'staking' | 'multisig' | 'account' | 'hybrid' | 'coinFirst' | 'indexed' | 'plain')
    | ('kitties' | 'series' | 'punks' | 'forged')
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
  fc.constantFrom('hybrid' as const, 'coinFirst' as const).chain((name) =>
    fc.oneof(
      fc.tuple(fc.constantFrom('mint', 'transferOne'), user).map(([method, to]) => ({
        ...{ name, method, args: [{ user: to }] },
      })),
      fc.constant({ name, method: 'burnOne', args: [] }),
    ),
  ),
  fc.tuple(fc.constantFrom('mint', 'transfer'), user, nft).map(([method, to, id]) => ({
    ...{ name: 'kitties' as const, method, args: [{ user: to }, id] },
  })),
  fc.tuple(fc.constantFrom('mint', 'pretend'), user, nft).map(([method, to, id]) => ({
    ...{ name: 'forged' as const, method, args: [{ user: to }, id] },
  })),
  fc
    .tuple(fc.constantFrom('series' as const, 'forged' as const), user, user, nft)
    .map(([name, from, to, id]) => ({
      ...{ name, method: 'transferFrom', args: [{ user: from }, { user: to }, id] },
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

/** What moves native currency in other ways than a plain payment. */
const nativeAction = fc.oneof(
  fc.constant({ name: null, method: 'pay', args: [{ contract: 'account' as const }], value: 50n }),
  fc.tuple(user, fc.nat(30), fc.nat(9)).map(([to, paid, value]) => ({
    ...{ name: 'account' as const, method: 'execute', args: [{ user: to }, BigInt(paid), '0x'] },
    value: BigInt(value),
  })),
  fc.bigInt(0n, 20n).map((value) => ({
    ...{ name: 'account' as const, method: 'execute' },
    args: [{ contract: 'wrapped' as const }, value, { call: 'deposit', of: 'wrapped' as const }],
  })),
  fc.tuple(user, fc.bigInt(0n, 20n)).map(([to, value]) => ({
    ...{ name: 'account' as const, method: 'execute' },
    args: [
      { contract: 'wrapped' as const },
      0n,
      { call: 'transfer', of: 'wrapped' as const, args: [{ user: to }, value] },
    ],
  })),
  user.map((to) => ({ name: 'payer' as const, method: 'leave', args: [{ user: to }], value: 11n })),
  user.map((to) => ({ name: 'payer' as const, method: 'payInVain', args: [{ user: to }], value: 13n })),
  user.map((to) => ({ name: null, method: 'create and leave', args: [{ user: to }], value: 17n })),
  fc.nat(30).map((salt) => ({
    ...{ name: 'creator' as const, method: 'create2' },
    args: [`0x${salt.toString(16).padStart(64, '0')}`],
    value: 19n,
  })),
);

/** A call with two users, an amount and an id: many fail, and are mined all the same. */
const action = fc.oneof(
  { weight: 12, arbitrary: oddAction },
  { weight: 6, arbitrary: nativeAction },
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
const named = (value: unknown, contracts: Partial<Contracts>, users: readonly Hex[]): unknown => {
  if (Array.isArray(value)) return value.map((each) => named(each, contracts, users));
  if (typeof value !== 'object' || value === null) return value;
  if ('user' in value) return users[Number(value.user)];
  const find = (wanted: unknown) => Object.entries(contracts).find(([name]) => name === wanted)?.[1];
  if ('call' in value && 'of' in value) {
    const args = 'args' in value && Array.isArray(value.args) ? value.args : [];
    return find(value.of)?.data(String(value.call), ...args.map((each) => named(each, contracts, users)));
  }
  return ('contract' in value ? find(value.contract)?.address : null) ?? value;
};

/** Code that returns no code. */
const EMPTY_CREATION: Hex = '0x60006000f3';
/** Code that is followed by an address, and code that leaves all to that. */
const PUSH_ADDRESS = '0x73';
const SELFDESTRUCT = 'ff';

/** What an action sends. */
export const minedOf = (
  { name, method, args, ...rest }: Action,
  contracts: Partial<Contracts>,
  users: readonly Hex[],
): Mined => {
  const values = args.map((arg) => named(arg, contracts, users));
  if (name !== null) {
    const contract = contracts[name];
    if (contract === undefined) throw new Error(`expected a contract ${name}`);
    return { to: contract.address, data: contract.data(method, ...values), ...rest };
  }
  if (method === 'create') return { to: undefined, data: EMPTY_CREATION };
  if (method === 'create and leave')
    return { to: undefined, data: `${PUSH_ADDRESS}${String(values[0]).slice(2)}${SELFDESTRUCT}`, ...rest };
  return { to: values[0] as Hex, data: '0x', ...rest };
};
