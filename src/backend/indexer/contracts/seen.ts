import { z } from 'zod';
import type { Effect, Hex, LogEntry } from '../../types.ts';
import { readLogs } from '../blocks/logs.ts';
import type { ParsedBlock } from '../blocks/parse.ts';
import { addressIn, FORMS, formOf, TOPICS, UNASKED, wordsOf } from '../blocks/readings.ts';

/** What the logs of a block show of the contracts that may be tokens. */

/** What a contract is asked about, which the logs of one block name. */
const sample = z.object({
  block: z.number(),
  /** Its hash. Those that were stored before it was have none. */
  hash: z.custom<Hex>().optional(),
  /** Words that are ids where the contract has NFTs. */
  ids: z.array(z.custom<Hex>()),
  /** An account that a deposit or a withdrawal names, and what its balance changes in the block if these mint and burn. */
  holder: z.object({ account: z.custom<Hex>(), change: z.string() }).nullable(),
});
export type Sample = z.infer<typeof sample>;

export const NO_SAMPLE: Sample = { block: 0, ids: [], holder: null };

export const sampleIn = (text: unknown): Sample =>
  typeof text === 'string' ? sample.parse(JSON.parse(text)) : NO_SAMPLE;

/** The forms of the logs of each contract: those of tokens, or what looks like them. */
export const formsIn = ({ transactions }: Pick<ParsedBlock, 'transactions'>): ReadonlyMap<Hex, number> => {
  const found = new Map<Hex, number>();
  for (const { logs } of transactions)
    for (const log of logs) {
      const form = isMulti(log) ? FORMS.multi : formOf(log);
      if (form !== null) found.set(log.address, (found.get(log.address) ?? 0) | form);
    }
  return found;
};

const isMulti = ({ topics: [topic] }: LogEntry): boolean => topic === TOPICS.single || topic === TOPICS.batch;

const MAX_IDS = 3;

/** What a contract can be asked about after a block. The last ids count: the others may be gone again. */
export const sampleOf = (
  { number, hash, transactions }: Pick<ParsedBlock, 'number' | 'transactions'> & { readonly hash?: Hex },
  contract: Hex,
): Sample => {
  const own = transactions.map(({ logs }) => logs.filter(({ address }) => address === contract));
  const all = own.flat();
  const isAmount = (log: LogEntry) => formOf(log) === FORMS.amount;
  const byLikelihood = [...all.filter((log) => !isAmount(log)).toReversed(), ...all.filter(isAmount)];
  const ids = new Set(byLikelihood.flatMap(idIn));
  const account = addressIn(all.find((log) => formOf(log) === FORMS.wrapping)?.topics[1]);
  const holder = account === null ? null : { account, change: String(changeOf(account, own)) };
  return { block: number, hash, ids: [...ids].slice(0, MAX_IDS), holder };
};

/** The token ids that a log may name. An amount looks like an id, and the id of a burned NFT has no owner. */
const idIn = (log: LogEntry): readonly Hex[] => {
  const form = formOf(log);
  const words = wordsOf(log);
  if (form === FORMS.consecutive || log.topics[0] === TOPICS.punkBought) return words.slice(0, 1);
  if (log.topics[0] === TOPICS.punkAssigned) return words.slice(1, 2);
  if (form === null || form === FORMS.wrapping) return [];
  return BigInt(words[1] ?? 0) === 0n ? [] : words.slice(2, 3);
};

const WRAPPING = { ...UNASKED, coin: FORMS.amount | FORMS.wrapping };

const changeOf = (account: Hex, logs: readonly (readonly LogEntry[])[]): bigint => {
  const effects: Effect[] = [];
  for (const each of logs) readLogs(each, () => WRAPPING, effects);
  let change = 0n;
  for (const effect of effects) {
    if (effect.kind !== 'transfer' || effect.tokenId !== null) continue;
    if (effect.to === account) change += effect.value;
    if (effect.from === account) change -= effect.value;
  }
  return change;
};
