import type { Hex } from '../../types.ts';
import { effectsOf } from '../blocks/parse.ts';
import { type Holding, STANDARDS } from './ledger.ts';
import type { ReadingsIn } from './revisions.ts';
import type { StoredBlocks } from './stored-blocks.ts';

/**
 * When a coin was first received, or an NFT last, in milliseconds since 1970; null when it never was. The list of its holder is read
 * for it. A coin was not received before `known`.
 */
export const receiptOf = (
  blocks: StoredBlocks,
  slot: number,
  { account, standard, token, tokenId }: Holding,
  readingsIn: ReadingsIn,
  known: number | null,
): number | null => {
  if (standard === STANDARDS.erc20 && known === null) return null;
  for (const { id, transaction, time } of historyOf(blocks, slot, account, standard, known)) {
    const isReceived = effectsOf(transaction, readingsIn(id, transaction)).some(
      (effect) =>
        effect.kind === 'transfer' &&
        effect.asset !== 'native' &&
        STANDARDS[effect.asset] === standard &&
        effect.to === account &&
        effect.token === token &&
        (effect.tokenId ?? 0n) === tokenId &&
        effect.value > 0n,
    );
    if (isReceived) return time;
  }
  return null;
};

const historyOf = (
  blocks: StoredBlocks,
  slot: number,
  account: Hex,
  standard: Holding['standard'],
  known: number | null,
) =>
  standard === STANDARDS.erc20
    ? blocks.historyFrom(slot, account, known ?? 0)
    : blocks.history(slot, account);
