import type { MovedTokenFragment, WholeTransactionFragment } from '../__generated__/operations.ts';
import { type ActivityItem, CREATION } from '../activity/activity-model.ts';
import { isZero } from '../format.ts';

/** What a transaction did, by its value and its events, where no list of activities has told it. */

type Transaction = WholeTransactionFragment;

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const TRANSFER_SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';
const APPROVAL_FOR_ALL = '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31';
const NOBODY = `0x${'0'.repeat(40)}`;

const addressIn = (word = ''): string => `0x${word.slice(-40)}`.toLowerCase();
const numberIn = (word: string): string =>
  /^[\da-f]{1,64}$/i.test(word) ? String(BigInt(`0x${word}`)) : '0';

/** What moved between two addresses, or what the first allows the second to move. */
type Said = Pick<ActivityItem, 'assetType' | 'value' | 'tokenId'> & {
  readonly isAllowance: boolean;
  readonly from: string;
  readonly to: string;
  /** Null for the chain's own currency. */
  readonly contract: string | null;
};

/** What an event says by the standards of tokens. Anybody's contract may say anything. */
const saidBy = ({ address, topics, data }: Transaction['logs'][number]): Said | null => {
  const [event, one, two, three] = topics;
  const numberAt = (index: number) => numberIn((data ?? '').slice(2 + 64 * index, 66 + 64 * index));
  const isAllowance = event === APPROVAL || event === APPROVAL_FOR_ALL;
  const said = { contract: address.toLowerCase(), isAllowance };
  if (event === TRANSFER_SINGLE && topics.length === 4) {
    const sides = { from: addressIn(two), to: addressIn(three) };
    return { ...said, ...sides, assetType: 'ERC1155', tokenId: numberAt(0), value: numberAt(1) };
  }
  if ((event !== TRANSFER && !isAllowance) || topics.length < 3) return null;
  const sides = { from: addressIn(one), to: addressIn(two) };
  if (three !== undefined)
    return { ...said, ...sides, assetType: 'ERC721', tokenId: numberIn(three.slice(2)), value: '1' };
  const assetType = event === APPROVAL_FOR_ALL ? 'ERC721' : 'ERC20';
  return { ...said, ...sides, assetType, tokenId: null, value: numberAt(0) };
};

/** All that it says to have moved, and then what it allows. */
const saidIn = ({ from, to, value, success, data, logs }: Transaction): readonly Said[] => {
  if (success === false) return [];
  const said = logs.flatMap((log) => saidBy(log) ?? []);
  // Without call data, it only sends: also where that is nothing.
  if (to !== null && (!isZero(value) || data === '0x'))
    said.unshift({ assetType: 'NATIVE', contract: null, tokenId: null, value, from, to, isAllowance: false });
  return said.toSorted((one, other) => Number(one.isAllowance) - Number(other.isAllowance));
};

/** The contracts of the tokens that a transaction moved or was to allow, each once. */
export const contractsIn = (transaction: Transaction): readonly string[] => [
  ...new Set(saidIn(transaction).flatMap(({ contract }) => contract ?? [])),
];

/** Whether the call or an event of a transaction names an address in any place. */
export const isNamedIn = ({ data, logs }: Transaction, address: string): boolean =>
  [data, ...logs.flatMap((log) => [log.address, log.data, ...log.topics])].some((said) =>
    said?.toLowerCase().includes(address.slice(2)),
  );

/** Whether a transaction moved anything, between any addresses. */
export const isMoving = (transaction: Transaction): boolean =>
  saidIn(transaction).some(({ isAllowance }) => !isAllowance);

/**
 * A transaction as activities of one side. Without anything that the side gave, got or allowed it is the call itself, and of an
 * address that neither sent nor received that either, none.
 */
export const activitiesOf = (
  transaction: Transaction,
  side: string,
  tokenAt: (address: string) => MovedTokenFragment | null,
): readonly ActivityItem[] => {
  const { chainId, blockNumber, blockTime, hash, decoded, from, to } = transaction;
  const common = {
    ...{ chainId, blockNumber, blockTime, transactionHash: hash, spender: null, swap: null, function: null },
    ...{ typeName: null, valueUsd: null, lowLiquidity: null, contractName: null },
  };
  const items = saidIn(transaction)
    .filter((said) => said.from === side || (said.to === side && !said.isAllowance))
    .map(({ contract, isAllowance, ...said }, index): ActivityItem => {
      const token = contract === null ? null : (tokenAt(contract) ?? unnamed(contract, chainId));
      const item = { ...common, ...said, id: `${hash}-${index}`, token };
      if (isAllowance) return { ...item, type: 'APPROVE', to: contract, spender: said.to };
      const type =
        said.from === side
          ? said.to === NOBODY
            ? 'BURN'
            : 'SEND'
          : said.from === NOBODY
            ? 'MINT'
            : 'RECEIVE';
      return { ...item, type };
    });
  if (items.length > 0) return side === from ? withSwaps(items, to) : items;
  if (side !== from && side !== to) return [];
  const sides = side === from ? { from: null, to: to ?? transaction.createdContract } : { from, to: null };
  const isCreation = to === null && from === side;
  const call = { assetType: null, value: null, tokenId: null, token: null, function: decoded };
  return [{ ...common, ...sides, ...call, id: hash, type: 'CALL', typeName: isCreation ? CREATION : null }];
};

/** Where the sender gave one coin after another and got another one for each, those are swaps at the contract that it called. */
const withSwaps = (items: readonly ActivityItem[], at: string | null): readonly ActivityItem[] => {
  const moved = items.filter(({ type }) => type !== 'APPROVE');
  const swaps = moved.flatMap((item, index): ActivityItem[] => {
    // A pool may pay before it is paid.
    const pair = index % 2 === 0 ? [item, moved[index + 1]] : [];
    const [from, to] = ['SEND', 'RECEIVE'].map((type) => pair.find((each) => each?.type === type));
    const isSwap = from?.tokenId === null && to?.tokenId === null && from.token?.id !== to.token?.id;
    return isSwap ? [{ ...item, type: 'SWAP', from: null, to: at, swap: { from, to } }] : [];
  });
  return swaps.length * 2 === moved.length
    ? [...swaps, ...items.filter(({ type }) => type === 'APPROVE')]
    : items;
};

const UNNAMED = { isNative: false, symbol: null, name: null, decimals: null, logo: null };

const unnamed = (address: string, chainId: number | null): MovedTokenFragment => {
  return { ...UNNAMED, id: `${chainId}:${address}`, chainId: chainId ?? 0, address };
};
