import type { Concerned } from '../../changes.ts';
import type { Hex, LogEntry } from '../../types.ts';
import { mayMoveInside, type ParsedBlock, type ParsedTransaction } from './parse.ts';
import { TOPICS } from './readings.ts';

/** A word of a log's data or a topic, without `0x`. */
const WORD = 64;
const PADDING = '0'.repeat(24);
/** Beyond this many words of data it is not looked whom a log names. */
const MAX_WORDS = 256;

const STANDARD: ReadonlySet<string> = new Set(Object.values(TOPICS));

/**
 * Whom and what blocks concern: who sends, gets or is named by a log, whether or not the log means what it seems to mean, and
 * whom the fees go to. Null where it can't be said. A token's own event, or a call of it that logs nothing, may change balances
 * of anyone, as where a token rebases.
 */
export const concernedBy = (
  blocks: readonly ParsedBlock[],
  isToken: (contract: Hex) => boolean,
): Concerned | null => {
  const addresses = new Set<Hex>();
  const tokens = new Set<Hex>();
  const transactions = new Set<Hex>();
  for (const account of blocks.flatMap(({ paid = [] }) => paid)) addresses.add(account);
  for (const transaction of blocks.flatMap((block) => block.transactions)) {
    const named = transaction.logs.map(namedBy);
    if (mayChangeAnyone(transaction, isToken) || named.includes(null)) return null;
    transactions.add(transaction.hash);
    for (const { address } of transaction.logs) tokens.add(address);
    for (const account of [...parties(transaction), ...named.flatMap((each) => each ?? [])])
      addresses.add(account);
  }
  return { addresses, tokens, transactions };
};

const mayChangeAnyone = (transaction: ParsedTransaction, isToken: (contract: Hex) => boolean): boolean => {
  const { to, logs } = transaction;
  if (!mayMoveInside(transaction)) return false;
  if (logs.length === 0) return to !== null && isToken(to);
  return logs.some(({ address, topics }) => !STANDARD.has(topics[0] ?? '') && isToken(address));
};

const parties = ({ from, to, created, internal }: ParsedTransaction): readonly Hex[] =>
  [from, to, created, ...internal.flatMap((moved) => [moved.from, moved.to])].filter((each) => each !== null);

/** Everything in a log that may be an address. Null for a log that is too long. */
const namedBy = ({ topics, data }: LogEntry): readonly Hex[] | null => {
  // Standard events name both sides in topics, except where a contract indexes nothing.
  const isInTopics = topics.length > 2 && STANDARD.has(topics[0] ?? '');
  const words = isInTopics ? 0 : Math.ceil((data.length - 2) / WORD);
  if (words > MAX_WORDS) return null;
  const inData = Array.from({ length: words }, (_, at) => data.slice(2 + at * WORD, 2 + (at + 1) * WORD));
  return [...topics.slice(1).map((topic) => topic.slice(2)), ...inData].flatMap((word): readonly Hex[] =>
    word.length === WORD && word.startsWith(PADDING) ? [`0x${word.slice(PADDING.length)}`] : [],
  );
};
