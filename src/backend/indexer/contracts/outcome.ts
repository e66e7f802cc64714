import type { Hex } from '../../types.ts';
import { type ContractAnswers, readAnswers } from './answers.ts';
import { type Contract, isKnown, type Row } from './contract-table.ts';
import type { Verdict } from './verdict.ts';

/** What comes of asking a contract: what it is known to be, how its logs are read, and when it is asked again. */

const HOUR_MS = 3_600_000;
/** A contract that said nothing useful is asked again after an hour, two hours, four hours, and so on up to this. */
const MAX_PAUSE_MS = 7 * 24 * HOUR_MS;
/**
 * A contract that can't be asked, although the node answers other calls, is asked again after a second, 4, 16 and 64. Then that
 * counts as an answer which says nothing: the contract may be at fault, such as one that takes all gas.
 */
const FIRST_RETRY_MS = 1_000;
const MAX_ATTEMPTS = 5;
/**
 * A contract whose answers do not settle how its logs are read is asked again after a second, 4, 16, and so on, this often: for some
 * hours. Then they are read for good as they were last.
 */
const MAX_UNDECIDED = 8;

export type Asked = {
  readonly address: Hex;
  /** The forms of its logs that were open. */
  readonly open: number;
  /** What it says of itself, and whatever else it was asked. */
  readonly outcomes: readonly PromiseSettledResult<Hex | null>[];
  /** Null where the node has not said all that it takes. */
  readonly verdict: Verdict | null;
};

export const isAnswered = ({ outcomes, verdict }: Asked): boolean =>
  verdict !== null && outcomes.every(isFulfilled);

export const isFulfilled = ({ status }: PromiseSettledResult<unknown>): boolean => status === 'fulfilled';

export const answerIn = (outcome: PromiseSettledResult<Hex | null>): Hex | null =>
  outcome.status === 'fulfilled' ? outcome.value : null;

/** The results of a contract's calls, or its earlier ones where it could not be asked. */
export const saidIn = (
  outcomes: readonly PromiseSettledResult<Hex | null>[],
  before: Contract,
): ContractAnswers => {
  const [name, symbol, decimals] = outcomes.map(isFulfilled);
  const said = readAnswers(outcomes.map(answerIn));
  return {
    name: name ? said.name : before.name,
    symbol: symbol ? said.symbol : before.symbol,
    decimals: decimals ? said.decimals : before.decimals,
  };
};

type Outcome = {
  /** When it is asked again, in milliseconds since 1970; null for never. */
  readonly row: Row & { readonly due: number | null };
  /** Whether that says how its logs are read: not where it is only to be asked again soon. */
  readonly isVerdict: boolean;
};

/**
 * What a contract is known as after it was asked, at a time in milliseconds since 1970. Null where the node failed to ask it, and
 * is not known to be well otherwise: nothing is known then.
 */
export const outcomeOf = (row: Row, asked: Asked, isNodeWell: boolean, now: number): Outcome | null => {
  const { open, outcomes, verdict } = asked;
  const isWhole = isAnswered(asked);
  if (!isWhole && !isNodeWell) return null;
  const said = { ...row, ...saidIn(outcomes, row) };
  const attempts = isWhole ? 0 : row.attempts + 1;
  if (attempts > 0 && attempts < MAX_ATTEMPTS) {
    const due = now + FIRST_RETRY_MS * 4 ** (attempts - 1);
    return { row: { ...said, due, attempts }, isVerdict: false };
  }
  const read = readingsAfter(row, open, verdict);
  const isSettled = (open & ~read.settled) === 0;
  const isDone = isSettled && isKnown(said);
  const isUndecided = !isSettled && verdict !== null;
  const pause = isUndecided ? FIRST_RETRY_MS * 4 ** row.failures : HOUR_MS * 2 ** row.failures;
  const isNew = (row.forms & ~(open | row.settled)) !== 0;
  const due = isNew ? now : isDone ? null : now + Math.min(MAX_PAUSE_MS, pause);
  const failures = row.failures + (isDone ? 0 : 1);
  return { row: { ...said, ...read, due, failures, attempts: 0 }, isVerdict: true };
};

/** The readings of a contract after a verdict; null where it could not be asked: it is read as before. */
export const readingsAfter = (row: Row, open: number, verdict: Verdict | null): Verdict => {
  const { coin, nft, settled } = verdict ?? { coin: row.coin & open, nft: row.nft & open, settled: 0 };
  return {
    coin: (row.coin & ~open) | coin,
    nft: (row.nft & ~open) | nft,
    settled: row.settled | (row.failures >= MAX_UNDECIDED ? open : settled),
  };
};
