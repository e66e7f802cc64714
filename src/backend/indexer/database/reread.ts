import { isDeepStrictEqual } from 'node:util';
import type { Effect, Hex } from '../../types.ts';
import { effectsOf, type ParsedTransaction, partiesOf } from '../blocks/parse.ts';
import type { ReadingsOf } from '../blocks/readings.ts';
import { type Holding, type Ledger, STANDARDS } from './ledger.ts';
import type { StoredBlocks } from './stored-blocks.ts';

type Options = {
  readonly blocks: StoredBlocks;
  readonly ledger: Ledger;
  readonly slot: number;
  readonly contract: Hex;
  /** The transactions with logs of the contract that may be read in another way now, the newest first. */
  readonly ids: readonly bigint[];
  /** How logs were read, and how they are read now: only the logs of the contract differ. */
  readonly before: ReadingsOf;
  readonly after: ReadingsOf;
};

/** A transaction that has other effects now. */
export type Reread = {
  readonly id: bigint;
  readonly transaction: ParsedTransaction;
  readonly block: { readonly number: number; readonly hash: Hex; readonly time: number };
  readonly before: readonly Effect[];
  readonly after: readonly Effect[];
};

/**
 * Reads stored transactions again, and changes the tables as if their logs had been read so from the first. Returns the
 * transactions that are others now, the newest first. It must run in a transaction.
 */
export const reread = ({
  blocks,
  ledger,
  slot,
  contract,
  ids,
  before,
  after,
}: Options): readonly Reread[] => {
  const isOwn = (effect: Effect) => effect.kind === 'transfer' && effect.token === contract;
  const all: Reread[] = [];
  for (const id of ids) {
    const stored = blocks.transaction(id);
    if (stored === undefined) continue;
    const { transaction, block } = stored;
    all.push({
      ...{ id, transaction, block },
      ...{ before: effectsOf(transaction, before), after: effectsOf(transaction, after) },
    });
  }
  const changed = all.filter((each) => !isDeepStrictEqual(each.before, each.after));
  if (changed.length === 0) return [];
  for (const { id, transaction, before: was, after: is } of changed) {
    const [old, parties] = [partiesOf(transaction, was), partiesOf(transaction, is)];
    for (const party of old) if (!parties.has(party)) blocks.dropParty(party, id);
    for (const party of parties) if (!old.has(party)) blocks.addParty(party, id);
  }
  blocks.flush();
  // All of them: who sends an NFT had it before, which depends on the order of what is added.
  const taken = all.flatMap((each) => each.before.filter(isOwn));
  ledger.revert(slot, taken, (holding, known) => receiptOf(blocks, slot, holding, after, known));
  for (const each of all) ledger.add(slot, 'below', each.after.filter(isOwn), each.block.time);
  return changed;
};

/**
 * When a coin was first received, or an NFT last, in milliseconds since 1970; null when it never was. The list of its holder is read
 * for it. A coin was not received before `known`.
 */
export const receiptOf = (
  blocks: StoredBlocks,
  slot: number,
  { account, standard, token, tokenId }: Holding,
  readingsOf: ReadingsOf,
  known: number | null,
): number | null => {
  if (standard === STANDARDS.erc20 && known === null) return null;
  const history =
    standard === STANDARDS.erc20
      ? blocks.historyFrom(slot, account, known ?? 0)
      : blocks.history(slot, account);
  for (const { transaction, time } of history) {
    const isReceived = effectsOf(transaction, readingsOf).some(
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
