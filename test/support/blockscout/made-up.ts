import type { Hex } from '../../../src/backend/types.ts';
import { address, hashOf } from '../../backend/indexer/support/blocks.ts';
import {
  type Contents,
  type KnownBlock,
  type KnownHolding,
  type KnownInternal,
  type KnownToken,
  type KnownTransaction,
  type KnownTransfer,
  ZERO,
} from './contents.ts';

/** Contents of a chain that never was, for walks that would need many blocks. */

export const WALLET = address('wallet');
export const TOKEN = address('token');
export const ART = address('art');
const OTHERS = ['alice', 'bob', 'carol'].map(address);

export type Sizes = {
  readonly transactions: number;
  readonly pending: number;
  readonly transfers: number;
  readonly internals: number;
  readonly logs: number;
  /** Tokens that the wallet holds, and that searches find. */
  readonly tokens: number;
  readonly nfts: number;
  /** Of one token. */
  readonly holders: number;
};

const SIZES: Sizes = {
  ...{ transactions: 3, pending: 1, transfers: 4, internals: 2, logs: 3, tokens: 3, nfts: 3, holders: 2 },
};

/** A member of the list, which repeats: equal values and places are what walks stumble over. */
const each = <Value>(values: readonly [Value, ...Value[]], at: number): Value =>
  values[at % values.length] ?? values[0];

const START = Date.UTC(2026, 0, 1);
const PER_BLOCK = 3;

const blocksFor = (count: number): readonly KnownBlock[] =>
  Array.from({ length: Math.ceil(count / PER_BLOCK) + 1 }, (_, number) => ({
    ...{ number, hash: hashOf('block', number), parentHash: hashOf('block', number - 1) },
    time: START + number * 2000,
  }));

const first = <Value>(values: readonly Value[], at: number): Value => {
  const value = values[at] ?? values[0];
  if (value === undefined) throw new Error('expected a value');
  return value;
};

export const madeUp = (sizes: Partial<Sizes> = {}, chainId = 1): Contents => {
  const size = { ...SIZES, ...sizes };
  const mined = Math.max(size.transactions, Math.ceil(size.transfers / 6), Math.ceil(size.internals / 4), 1);
  const blocks = blocksFor(mined);
  const transactions = Array.from({ length: mined }, (_, at): KnownTransaction & { block: KnownBlock } => ({
    ...{ hash: hashOf('transaction', at), block: first(blocks, 1 + Math.floor(at / PER_BLOCK)) },
    position: at % PER_BLOCK,
    // Those beyond the wallet's own only carry transfers.
    from: at >= size.transactions ? first(OTHERS, 0) : at % 2 === 0 ? WALLET : first(OTHERS, at % 3),
    ...{ to: at >= size.transactions || at % 2 === 0 ? TOKEN : WALLET, created: null },
    value: each([0n, 1n, 10n ** 18n, 2n ** 256n - 1n], at),
    ...{ nonce: at, type: 2, gas: 100_000n, gasUsed: 21_000n, gasPrice: 7n },
    input: at % 2 === 0 ? '0xa9059cbb' : '0x',
    status: each(['ok', 'error'], at),
    logs:
      at === 0
        ? Array.from({ length: size.logs }, (_, index) => ({
            ...{
              index,
              address: TOKEN,
              topics: [hashOf('topic', index)].slice(index % 2),
              data: '0x01' as Hex,
            },
          }))
        : [],
  }));
  const pending = Array.from(
    { length: size.pending },
    (_, at): KnownTransaction => ({
      ...first(transactions, 0),
      ...{ hash: hashOf('pending', at), from: WALLET, block: null, logs: [] },
    }),
  );
  // Two of three are alone in their log, the third ones are batches of three.
  const transfers = Array.from({ length: size.transfers }, (_, at): KnownTransfer => {
    const isBatch = Math.floor(at / 3) % 3 === 2;
    const ids = isBatch ? { tokenId: BigInt(at), place: at % 3 } : { tokenId: null, place: null };
    return {
      ...{ transaction: first(transactions, Math.floor(at / 6)), ...ids },
      logIndex: isBatch ? Math.floor(at / 3) * 3 : at,
      ...{ token: isBatch ? ART : TOKEN, value: each([0n, 5n, 2n ** 200n], at) },
      ...(at % 2 === 0 ? { from: WALLET, to: first(OTHERS, at % 3) } : { from: ZERO, to: WALLET }),
    };
  });
  const internals = Array.from(
    { length: size.internals },
    (_, at): KnownInternal => ({
      ...{ transaction: first(transactions, Math.floor(at / 4)), index: (at % 4) + 1, type: 'call' },
      ...{ from: WALLET, to: first(OTHERS, at % 3), created: null, value: BigInt(at), success: at % 5 !== 0 },
    }),
  );
  const coins = Array.from(
    { length: size.tokens },
    (_, at): KnownToken => ({
      ...{ address: address(`coin ${at}`), type: 'ERC-20', name: `Coin ${at}`, symbol: `C${at}` },
      ...{
        decimals: 18,
        supply: 10n ** 30n,
        price: each([null, 1, 0.00001234, 1], at),
        isScam: at % 10 === 7,
      },
    }),
  );
  const token: KnownToken = {
    ...{ address: TOKEN, type: 'ERC-20', name: 'Token', symbol: 'TOK', decimals: 18, supply: 10n ** 30n },
    ...{ price: 2, isScam: false },
  };
  const art: KnownToken = {
    ...{ address: ART, type: 'ERC-1155', name: 'Art', symbol: null, decimals: null, supply: null },
    ...{ price: null, isScam: false },
  };
  const holdings: readonly KnownHolding[] = [
    ...coins.map((coin, at) => ({
      ...{ owner: WALLET, token: coin.address, tokenId: null, metadata: null },
      value: each([1n, 10n ** 20n, 10n ** 20n], at),
    })),
    ...Array.from({ length: size.nfts }, (_, at) => ({
      ...{ owner: WALLET, token: ART, tokenId: BigInt(at), value: 1n, metadata: { name: `Art ${at}` } },
    })),
    ...Array.from({ length: size.holders }, (_, at) => ({
      ...{ owner: address(`holder ${at}`), token: TOKEN, tokenId: null, metadata: null },
      value: each([1n, 7n, 7n], at),
    })),
  ];
  return {
    ...{ chainId, blocks, transfers, internals, holdings, coinPrice: 3000.5 },
    transactions: [...transactions, ...pending],
    tokens: new Map([token, art, ...coins].map((known) => [known.address, known])),
    contracts: new Map([TOKEN, ART].map((known) => [known, { verified: null }])),
    coins: new Map([[WALLET, 10n ** 18n]]),
  };
};
