import { hash } from 'node:crypto';
import type { Hex } from '../../../src/backend/types.ts';

/** A made-up chain: each block follows from its number alone, so that a node of it needs no memory, and can be asked for any. */

export const CHAIN_ID = 31337;
export const BLOCK_TRANSACTIONS = 200;
export const TRANSACTION_LOGS = 3;

/** Most of what happens concerns few of them. */
const ACCOUNTS = 200_000;
const HOT_ACCOUNTS = 2_000;
const COINS = 2_000;
const HOT_COINS = 20;
const COLLECTIONS = 200;

const named = (text: string): string => hash('sha256', text);

const address = (kind: string, at: number): Hex => `0x${named(`${kind} ${at}`).slice(0, 40)}`;
const accounts = Array.from({ length: ACCOUNTS }, (_, at) => address('account', at));
const coins = Array.from({ length: COINS }, (_, at) => address('coin', at));
const collections = Array.from({ length: COLLECTIONS }, (_, at) => address('collection', at));

const blockHash = (number: number): Hex =>
  number < 0 ? `0x${'0'.repeat(64)}` : `0x${named(`block ${number}`)}`;

const word = (hex: string): string => `0x${hex.padStart(64, '0')}`;
const topic = (account: Hex): string => word(account.slice(2));
const quantity = (value: number | bigint): Hex => `0x${value.toString(16)}`;

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const TRANSFER_SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
const SYNC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1';
const BLOOM = `0x${'0'.repeat(512)}`;
const NOBODY = address('nobody', 0);

/** An xorshift generator: it is asked some thousand times a block. */
const randomOf = (seed: number) => {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  return (below: number): number => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % below;
  };
};

/** Members that all blocks have alike. */
const SHARED = {
  nonce: '0x0',
  difficulty: '0x0',
  extraData: '0x',
  size: '0x10000',
  gasLimit: '0x1c9c380',
  gasUsed: '0xe4e1c0',
  baseFeePerGas: '0x7',
  logsBloom: BLOOM,
  uncles: [],
};

/** The block and its receipts as a node answers them. */
export const blockOf = (number: number): { readonly block: object; readonly receipts: readonly object[] } => {
  const random = randomOf(number);
  /** One of a list, of which those in front come often: a hundredth of the accounts has a fifth of all, one coin a quarter. */
  const one = (list: readonly Hex[], skew: number) =>
    list[Math.floor(list.length * (random(2 ** 20) / 2 ** 20) ** skew)] ?? NOBODY;
  const account = () => one(accounts, 3);
  const coin = () => one(coins, 6);
  const amount = () => BigInt(random(1_000_000)) * 10n ** BigInt(6 + random(13));
  const placed = { blockHash: blockHash(number), blockNumber: quantity(number) };

  const transfer = (from: Hex, to: Hex) => ({
    address: coin(),
    topics: [TRANSFER, topic(from), topic(to)],
    data: word(amount().toString(16)),
  });
  const nft = (from: Hex, to: Hex) => {
    const contract = collections[random(COLLECTIONS)] ?? NOBODY;
    const id = random(10_000).toString(16);
    return random(2) === 0
      ? { address: contract, topics: [TRANSFER, topic(from), topic(to), word(id)], data: '0x' }
      : {
          address: contract,
          topics: [TRANSFER_SINGLE, topic(from), topic(from), topic(to)],
          data: word(id) + word('1').slice(2),
        };
  };
  const other = () => ({
    address: coin(),
    topics: [SYNC],
    data: word(amount().toString(16)) + word(amount().toString(16)).slice(2),
  });

  const made = Array.from({ length: BLOCK_TRANSACTIONS }, (_, index) => {
    const [from, to, third] = [account(), account(), account()];
    const called = coin();
    const hash = `0x${named(`transaction ${number} ${index}`)}`;
    const at = { ...placed, transactionHash: hash, transactionIndex: quantity(index) };
    const kind = random(4);
    const logs = [
      transfer(from, to),
      transfer(to, third),
      kind === 0 ? nft(from, third) : kind === 1 ? other() : transfer(third, from),
    ];
    return {
      transaction: {
        ...{
          ...placed,
          hash,
          transactionIndex: quantity(index),
          type: '0x2',
          chainId: quantity(CHAIN_ID),
          nonce: quantity(random(10_000)),
        },
        ...{
          from,
          to: called,
          value: '0x0',
          gas: '0x186a0',
          gasPrice: '0x77359400',
          maxFeePerGas: '0x77359400',
          maxPriorityFeePerGas: '0x3b9aca00',
        },
        ...{
          input: `0xa9059cbb${topic(to).slice(2)}${word(amount().toString(16)).slice(2)}`,
          accessList: [],
          v: '0x1',
          yParity: '0x1',
        },
        ...{ r: `0x${named(`r ${hash}`)}`, s: `0x${named(`s ${hash}`)}` },
      },
      receipt: {
        ...{ ...at, type: '0x2', status: '0x1', from, to: called, contractAddress: null, logsBloom: BLOOM },
        ...{
          gasUsed: '0x12345',
          cumulativeGasUsed: quantity(74_565 * (index + 1)),
          effectiveGasPrice: '0x77359400',
        },
        logs: logs.map((log, logIndex) => ({
          ...log,
          ...at,
          logIndex: quantity(TRANSACTION_LOGS * index + logIndex),
          removed: false,
        })),
      },
    };
  });
  return {
    block: {
      ...{ number: quantity(number), hash: placed.blockHash, parentHash: blockHash(number - 1) },
      ...{
        ...SHARED,
        timestamp: quantity(1_700_000_000 + 2 * number),
        transactions: made.map(({ transaction }) => transaction),
      },
    },
    receipts: made.map(({ receipt }) => receipt),
  };
};

/** Accounts that much concerns, and ones that little does. */
export const busyAccounts = accounts.slice(0, HOT_ACCOUNTS);
export const quietAccounts = accounts.slice(-HOT_ACCOUNTS);
/** Coins that most accounts have. */
export const popularCoins = coins.slice(0, HOT_COINS);
