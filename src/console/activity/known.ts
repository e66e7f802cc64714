import type { TransactionRowFragment } from '../__generated__/operations.ts';
import { credentials } from '../state.ts';
import { type ActivityItem, type Happening, type Token, thinTokensOf, tokensIn } from './activity-model.ts';

/** What this visit has read of transactions and tokens already, so that another view need not ask for it again. */

const MOST = 5000;

/** The last ones that were put. They are cleared when the credentials change: another caller may see other things. */
const createCache = <Value>() => {
  const kept = new Map<string, Value>();
  credentials.subscribe(() => kept.clear());
  return {
    get: (key: string): Value | null => kept.get(key) ?? null,
    put(key: string, value: Value): void {
      kept.delete(key);
      kept.set(key, value);
      const [oldest] = kept.keys();
      if (kept.size > MOST && oldest !== undefined) kept.delete(oldest);
    },
  };
};

const happenings = createCache<Happening & { readonly thin: ReadonlySet<string> }>();
const tokens = createCache<Token>();
const fees = createCache<{ readonly fee: string; readonly payer: string }>();

export const keepToken = (token: Token): void => {
  if (token.address !== null && token.decimals !== null)
    tokens.put(`${token.chainId}:${token.address.toLowerCase()}`, token);
};

export const knownToken = (chainId: number, address: string): Token | null =>
  tokens.get(`${chainId}:${address.toLowerCase()}`);

/** Keeps what a wallet's list of activities has loaded. Of its oldest transactions activities may be missing, while it `hasMore`. */
export const keepActivities = (
  wallet: string,
  loaded: readonly Happening[],
  items: readonly ActivityItem[],
  hasMore: boolean,
): void => {
  const oldest = hasMore ? loaded.at(-1)?.time : undefined;
  const thin = thinTokensOf(items);
  for (const token of items.flatMap(tokensIn)) keepToken(token);
  for (const each of loaded)
    if (each.time !== oldest) happenings.put(`${wallet}:${each.key}`, { ...each, thin });
};

/** A transaction as a wallet's list of activities has told it; null where none was loaded. */
export const knownHappening = (wallet: string, chainId: number, hash: string) =>
  happenings.get(`${wallet}:${chainId}:${hash}`);

type WithFee = Pick<TransactionRowFragment, 'fee' | 'gasUsed' | 'effectiveGasPrice'>;

/** What it cost its sender, or only its gas where the service says no more of it; null where it says neither. */
export const feeOf = ({ fee, gasUsed, effectiveGasPrice }: WithFee): string | null =>
  fee ??
  (gasUsed === null || effectiveGasPrice === null
    ? null
    : String(BigInt(gasUsed) * BigInt(effectiveGasPrice)));

export const keepFees = (transactions: readonly TransactionRowFragment[]): void => {
  for (const transaction of transactions) {
    const fee = feeOf(transaction);
    const { chainId, hash, from } = transaction;
    if (fee !== null) fees.put(`${chainId}:${hash}`, { fee, payer: from });
  }
};

/** What a wallet paid for a transaction that was read; null where none was, or another one paid. */
export const knownFee = (wallet: string, chainId: number, hash: string): string | null => {
  const known = fees.get(`${chainId}:${hash}`);
  return known?.payer === wallet ? known.fee : null;
};
