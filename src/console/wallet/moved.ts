import type {
  MovedTokenFragment,
  TransactionPartsFragment,
  TransactionRowFragment,
} from '../__generated__/operations.ts';
import type { ActivityItem } from '../activity/activity-model.ts';
import { isZero } from '../format.ts';

type Transaction = TransactionRowFragment & TransactionPartsFragment;
type Named = ReadonlyMap<string, MovedTokenFragment>;

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const TRANSFER_SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
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

const movesOf = (transaction: Transaction): readonly Moved[] => {
  const { from, to, value, success, logs } = transaction;
  if (success === false) return [];
  const sent: Moved = { assetType: 'NATIVE', contract: null, tokenId: null, value, from, to: to ?? NOBODY };
  return [
    ...(value === null || isZero(value) || to === null ? [] : [sent]),
    ...logs.flatMap((log) => movedBy(log) ?? []),
  ];
};

/** The contracts of the tokens that a transaction moved, each once. */
export const contractsIn = (transaction: Transaction): readonly string[] => [
  ...new Set(movesOf(transaction).flatMap(({ contract }) => contract ?? [])),
];

/** A transaction as activities of one side. Without any movement of the side it is the call itself. */
export const activitiesOf = (
  transaction: Transaction,
  side: string,
  named: Named,
): readonly ActivityItem[] => {
  const { chainId, blockNumber, blockTime, hash, decoded } = transaction;
  const common = {
    ...{ chainId, blockNumber, blockTime, transactionHash: hash, spender: null, swap: null },
    ...{ typeName: null, valueUsd: null, lowLiquidity: null, contractName: null },
  };
  const items = movesOf(transaction)
    .filter(({ from, to }) => from === side || to === side)
    .map(({ contract, ...moved }, index): ActivityItem => {
      const [sent, got] = [
        moved.to === NOBODY ? 'BURN' : 'SEND',
        moved.from === NOBODY ? 'MINT' : 'RECEIVE',
      ] as const;
      const type = moved.from === side ? sent : got;
      const token = contract === null ? null : (named.get(contract) ?? unnamed(contract, chainId));
      return { ...common, ...moved, id: `${hash}-${index}`, type, token, function: null };
    });
  if (items.length > 0) return items;
  const { from, to } = transaction;
  const sides = side === from ? { from: null, to } : { from, to: null };
  const call = { ...sides, assetType: null, value: null, tokenId: null, token: null };
  return [{ ...common, ...call, id: hash, type: 'CALL', function: decoded }];
};

const UNNAMED = { isNative: false, symbol: null, name: null, decimals: null, logo: null };

const unnamed = (address: string, chainId: number | null): MovedTokenFragment => {
  return { ...UNNAMED, id: `${chainId}:${address}`, chainId: chainId ?? 0, address };
};
