import type {
  MovedTokenFragment,
  TransactionPartsFragment,
  TransactionRowFragment,
} from '../__generated__/operations.ts';
import { type ActivityItem, CREATION } from '../activity/activity-model.ts';
import { isZero } from '../format.ts';

type Transaction = TransactionRowFragment & TransactionPartsFragment;

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const TRANSFER_SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';
const APPROVAL_FOR_ALL = '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31';
const NOBODY = `0x${'0'.repeat(40)}`;

const addressIn = (word = ''): string => `0x${word.slice(-40)}`.toLowerCase();
const numberIn = (word: string): string =>
  /^[\da-f]{1,64}$/i.test(word) ? String(BigInt(`0x${word}`)) : '0';

type Moved = Pick<ActivityItem, 'assetType' | 'value' | 'tokenId'> & {
  readonly from: string;
  readonly to: string;
  /** Null for the chain's own currency. */
  readonly contract: string | null;
};

type Allowed = Pick<ActivityItem, 'assetType' | 'value' | 'tokenId'> & {
  readonly owner: string;
  readonly spender: string;
  readonly contract: string;
};

/** What an event says to have moved, by the standards of tokens. Anybody's contract may say anything. */
const movedBy = ({ address, topics, data }: Transaction['logs'][number]): Moved | null => {
  const [event, one, two, three] = topics;
  const word = (index: number) => (data ?? '').slice(2 + 64 * index, 66 + 64 * index);
  const contract = address.toLowerCase();
  if (event === TRANSFER_SINGLE && topics.length === 4)
    return {
      ...{ assetType: 'ERC1155', contract, from: addressIn(two), to: addressIn(three) },
      ...{ tokenId: numberIn(word(0)), value: numberIn(word(1)) },
    };
  if (event !== TRANSFER || topics.length < 3) return null;
  const sides = { contract, from: addressIn(one), to: addressIn(two) };
  return three === undefined
    ? { ...sides, assetType: 'ERC20', tokenId: null, value: numberIn(word(0)) }
    : { ...sides, assetType: 'ERC721', tokenId: numberIn(three.slice(2)), value: '1' };
};

const isPlain = ({ data }: Transaction): boolean => data === '0x';

const movesOf = (transaction: Transaction): readonly Moved[] => {
  const { from, to, value, success, logs } = transaction;
  if (success === false) return [];
  const sent: Moved = { assetType: 'NATIVE', contract: null, tokenId: null, value, from, to: to ?? NOBODY };
  return [
    // Without call data, it only sends: also where that is nothing.
    ...(value === null || to === null || (isZero(value) && !isPlain(transaction)) ? [] : [sent]),
    ...logs.flatMap((log) => movedBy(log) ?? []),
  ];
};

const allowedBy = ({ address, topics, data }: Transaction['logs'][number]): Allowed | null => {
  const [event, owner, spender, id] = topics;
  const isForAll = event === APPROVAL_FOR_ALL;
  if ((event !== APPROVAL && !isForAll) || topics.length < 3) return null;
  const sides = { contract: address.toLowerCase(), owner: addressIn(owner), spender: addressIn(spender) };
  if (id !== undefined) return { ...sides, assetType: 'ERC721', tokenId: numberIn(id.slice(2)), value: '1' };
  const value = numberIn((data ?? '').slice(2, 66));
  return { ...sides, assetType: isForAll ? 'ERC721' : 'ERC20', tokenId: null, value };
};

const allowancesOf = ({ success, logs }: Transaction): readonly Allowed[] =>
  success === false ? [] : logs.flatMap((log) => allowedBy(log) ?? []);

/** The contracts of the tokens that a transaction moved or was to allow, each once. */
export const contractsIn = (transaction: Transaction): readonly string[] => [
  ...new Set(
    [...movesOf(transaction), ...allowancesOf(transaction)].flatMap(({ contract }) => contract ?? []),
  ),
];

/** Whether the call or an event of a transaction names an address in any place. */
export const isNamedIn = ({ data, logs }: Transaction, address: string): boolean =>
  [data, ...logs.flatMap((log) => [log.address, log.data, ...log.topics])].some((said) =>
    said?.toLowerCase().includes(address.slice(2)),
  );

/** Whether a transaction moved anything, between any addresses. */
export const isMoving = (transaction: Transaction): boolean => movesOf(transaction).length > 0;

/**
 * A transaction as activities of one side. Without anything that the side gave, got or allowed it is the call itself, and of an
 * address that neither sent nor received that either, none.
 */
export const activitiesOf = (
  transaction: Transaction,
  side: string,
  tokenAt: (address: string) => MovedTokenFragment | null,
): readonly ActivityItem[] => {
  const { chainId, blockNumber, blockTime, hash, decoded } = transaction;
  const common = {
    ...{ chainId, blockNumber, blockTime, transactionHash: hash, spender: null, swap: null, function: null },
    ...{ typeName: null, valueUsd: null, lowLiquidity: null, contractName: null },
  };
  const tokenOf = (contract: string) => tokenAt(contract) ?? unnamed(contract, chainId);
  const moved = movesOf(transaction)
    .filter(({ from, to }) => from === side || to === side)
    .map(({ contract, ...move }, index): ActivityItem => {
      const [sent, got] = [
        move.to === NOBODY ? 'BURN' : 'SEND',
        move.from === NOBODY ? 'MINT' : 'RECEIVE',
      ] as const;
      const type = move.from === side ? sent : got;
      const token = contract === null ? null : tokenOf(contract);
      return { ...common, ...move, id: `${hash}-${index}`, type, token };
    });
  const allowed = allowancesOf(transaction)
    .filter(({ owner }) => owner === side)
    .map(({ contract, owner, ...allowance }, index): ActivityItem => {
      const sides = { from: owner, to: contract, token: tokenOf(contract) };
      return { ...common, ...allowance, ...sides, id: `${hash}-allowed-${index}`, type: 'APPROVE' };
    });
  if (moved.length + allowed.length > 0) return [...moved, ...allowed];
  const { from, to } = transaction;
  if (side !== from && side !== to) return [];
  const sides = side === from ? { from: null, to: to ?? transaction.createdContract } : { from, to: null };
  const isCreation = to === null && from === side;
  const call = { assetType: null, value: null, tokenId: null, token: null, function: decoded };
  return [{ ...common, ...sides, ...call, id: hash, type: 'CALL', typeName: isCreation ? CREATION : null }];
};

const UNNAMED = { isNative: false, symbol: null, name: null, decimals: null, logo: null };

const unnamed = (address: string, chainId: number | null): MovedTokenFragment => {
  return { ...UNNAMED, id: `${chainId}:${address}`, chainId: chainId ?? 0, address };
};
