import type { Hex } from '../../../src/backend/types.ts';
import { hashOf } from '../../backend/indexer/support/blocks.ts';
import type { Contents, KnownBlock, KnownTransaction, KnownTransfer } from './contents.ts';
import { madeUp, TOKEN } from './made-up.ts';

type Sent = Partial<Pick<KnownTransaction, 'from' | 'to' | 'value' | 'status' | 'input'>>;

const OTHER: Hex = `0x${'0f'.repeat(20)}`;
const START = Date.UTC(2026, 0, 1);

/** A chain that grows while a simulated explorer answers for it. */
export const growingChain = (chainId = 1) => {
  const { tokens, contracts } = madeUp();
  const blocks: KnownBlock[] = [];
  const transactions: (KnownTransaction & { readonly block: KnownBlock })[] = [];
  const transfers: KnownTransfer[] = [];

  const mine = (count = 1): KnownBlock => {
    for (let left = count; left > 0; left -= 1) {
      const number = blocks.length;
      const names = { hash: hashOf(`block ${chainId}`, number), parentHash: hashOf('block', number - 1) };
      blocks.push({ number, ...names, time: START + number * 2000 });
    }
    const newest = blocks.at(-1);
    if (newest === undefined) throw new Error('expected a block');
    return newest;
  };

  /** Returns the hash of a transaction, which is in a block of its own by default. */
  const send = (sent: Sent, block = mine()): Hex => {
    const hash = hashOf(`transaction ${chainId}`, transactions.length);
    transactions.push({
      ...{ hash, block, position: transactions.length, nonce: transactions.length, created: null },
      ...{ from: OTHER, to: OTHER, value: 1n, input: '0x', status: 'ok', logs: [], type: 2 },
      ...{ gas: 100_000n, gasUsed: 21_000n, gasPrice: 7n },
      ...sent,
    });
    return hash;
  };

  mine();
  return {
    mine,
    send,
    /** Somebody moves tokens from one to another, neither of which sends the transaction. */
    move({ from, to, value = 5n }: { readonly from: Hex; readonly to: Hex; readonly value?: bigint }): Hex {
      const hash = send({ to: TOKEN, value: 0n, input: '0xa9059cbb' });
      const transaction = transactions.at(-1);
      if (transaction !== undefined)
        transfers.push({
          ...{ transaction, from, to, value, token: TOKEN, tokenId: null, place: null },
          logIndex: transfers.length,
        });
      return hash;
    },
    contents: (): Contents => ({
      ...{ chainId, tokens, contracts, blocks: [...blocks], transactions: [...transactions] },
      ...{ transfers: [...transfers], internals: [], holdings: [], coins: new Map(), coinPrice: 3000 },
    }),
  };
};
