import { credentials } from '../state.ts';
import { type ActivityItem, type Happening, type Token, thinTokensOf, tokensIn } from './activity-model.ts';

/** What this visit has read of transactions and tokens already, so that another view need not ask for it again. */

type Seen = Happening & { readonly thin: ReadonlySet<string> };

const MOST = 5000;

const happenings = new Map<string, Seen>();
const tokens = new Map<string, Token>();

// Another caller may see other things.
credentials.subscribe(() => {
  happenings.clear();
  tokens.clear();
});

const put = <Value>(kept: Map<string, Value>, key: string, value: Value): void => {
  kept.delete(key);
  kept.set(key, value);
  const [oldest] = kept.keys();
  if (kept.size > MOST && oldest !== undefined) kept.delete(oldest);
};

const tokenKey = (chainId: number, address: string): string => `${chainId}:${address.toLowerCase()}`;

export const keepToken = (token: Token): void => {
  if (token.address !== null && token.decimals !== null)
    put(tokens, tokenKey(token.chainId, token.address), token);
};

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
    if (each.time !== oldest) put(happenings, `${wallet}:${each.key}`, { ...each, thin });
};

/** A transaction as a wallet's list of activities has told it; null where none was loaded. */
export const knownHappening = (wallet: string, chainId: number, hash: string): Seen | null =>
  happenings.get(`${wallet}:${chainId}:${hash}`) ?? null;

export const knownToken = (chainId: number, address: string): Token | null =>
  tokens.get(tokenKey(chainId, address)) ?? null;
