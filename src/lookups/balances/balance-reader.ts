import DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';
import type { Context } from '../../context.ts';
import { malformedItem } from '../../graph/pagination/connection.ts';
import { isObject } from '../../lib/json/exact-json.ts';
import { atMostEntries } from '../../lib/memo.ts';
import { UpstreamError } from '../../upstream/client/errors.ts';
import { type LookupParts, type OperationLookups, oncePerOperation } from '../../upstream/lookup.ts';
import { type Details, type Page, type PartialErrors, valuesOf } from '../../upstream/page.ts';
import { MalformedFieldError } from '../../upstream/parse/fields.ts';
import type { Chains } from '../chains/chains.ts';
import { NATIVE, type TokenKey, textOf } from '../tokens/token.ts';
import {
  type BalancesList,
  balancesLookup,
  type ListedBalance,
  singleBalanceLookup,
} from './balances-rest.ts';

/** Names a balance. */
export type BalanceKey = {
  /** In lower case. */
  readonly wallet: string;
  readonly token: TokenKey;
};

type Wanted = BalanceKey & { readonly details: Details };

/**
 * Reads one balance; null where the wallet does not hold the token. In this order:
 * - From a page that is at hand: a fresh one, or one on its way, of a list of the wallet that has the chain.
 * - Where one operation wants two or more tokens of a wallet and a chain: from the list of that chain.
 * - By a request for the one balance. A list that lacks the token shows that the wallet does not hold it, unless the service
 *   indexes the chain itself: tokens that it has seen no event of are asked.
 */
export const readBalance = async (
  { lookups, chains }: Context,
  key: BalanceKey,
  details: Details,
): Promise<ListedBalance | null> => (await loaderOf(lookups, chains).load({ ...key, details })).balance;

/** A promise in an object, which the loader does not wait for: a slow balance must not delay the others. */
type Reading = { readonly balance: Promise<ListedBalance | null> };

const loaderOf = oncePerOperation(
  (operation, chains: Chains) =>
    new DataLoader<Wanted, Reading, string>(
      async (wanted) => {
        const tokens = new Map<string, Set<string>>();
        for (const each of wanted) {
          const group = tokens.get(groupOf(each)) ?? new Set();
          tokens.set(groupOf(each), group.add(textOf(each.token)));
        }
        return wanted.map((each) => {
          const isOneOfSeveral = (tokens.get(groupOf(each))?.size ?? 0) > 1;
          return { balance: read(operation, chains, each, isOneOfSeveral) };
        });
      },
      {
        cacheKeyFn: ({ wallet, token, details }) => `${wallet} ${textOf(token)} ${details}`,
        // The lists of the operation are asked for first: what they bring needs no request.
        batchScheduleFn: (load) => void setImmediate(load),
      },
    ),
);

const groupOf = ({ wallet, token }: BalanceKey): string => `${wallet} ${token.chainId}`;

const read = async (
  operation: OperationLookups,
  chains: Chains,
  { wallet, token, details }: Wanted,
  isOneOfSeveral: boolean,
): Promise<ListedBalance | null> => {
  const { chainId } = token;
  const atHand = listsOf(operation, wallet).find(
    (list) => covers(list, chainId, chains) && balancesLookup.isAtHand(operation, list, details),
  );
  const list = atHand ?? (isOneOfSeveral ? listOfChain(wallet, chainId) : null);
  if (list !== null) {
    const page = await balancesLookup
      .read(
        operation,
        list,
        details,
      )(NEWEST)
      .catch((error: unknown) => {
        if (atHand !== undefined && error instanceof UpstreamError) return null;
        throw error;
      });
    const found = page && balanceOn(page, token);
    if (found) return found;
    if (page && isComplete(page, chainId) && !chains.find(chainId)?.isIndexed) return null;
  }
  const address = token.address ?? NATIVE;
  const single = { address: wallet, chains: String(chainId), token: address };
  const answer = await singleBalanceLookup.read(operation, single, details)(NEWEST);
  const found = balanceOn(answer, token);
  if (found === null && !isComplete(answer, chainId)) throw unreadBalance(answer);
  return found;
};

/** What the service could not read, or sent in no readable form, may be held. */
const unreadBalance = ({ items, partialErrors }: Page<ListedBalance>): Error => {
  const malformed = valuesOf(items).find((value) => value instanceof MalformedFieldError);
  if (malformed instanceof MalformedFieldError) return malformedItem(malformed);
  const [why = 'The service could not read the balance'] = sentencesIn(partialErrors);
  return new UpstreamError('unavailable', `${why}.`);
};

const NEWEST = { offset: null, follows: null, freshness: 'head' } as const;

/** Throws the client's error of a balance that can't be parsed. */
const balanceOn = ({ items }: Page<ListedBalance>, { chainId, address }: TokenKey): ListedBalance | null => {
  const index = items.indexOf(`${chainId}:${address}`);
  const value = index < 0 ? null : items.value(index);
  if (value instanceof MalformedFieldError) throw malformedItem(value);
  return value;
};

/** Whether a page shows by what it lacks that the wallet does not hold it. */
const isComplete = (page: Page<ListedBalance>, chainId: number): boolean => {
  const { items, nextOffset, partialErrors } = page;
  const troubles = troublesIn(partialErrors);
  if (nextOffset !== null || troubles.chainIds.has(chainId) || troubles.isOfUnknownChain) return false;
  for (let index = 0; index < items.length; index += 1)
    if (items.value(index) instanceof MalformedFieldError) return false;
  return true;
};

const covers = ({ chains: parameter }: BalancesList, chainId: number, chains: Chains): boolean => {
  const parts = (parameter ?? 'default').split(',');
  return (
    parts.includes(String(chainId)) ||
    (chains.find(chainId)?.tags.some((tag) => parts.includes(tag)) ?? false)
  );
};

const listOfChain = (address: string, chainId: number): BalancesList => ({
  address,
  chains: String(chainId),
  assetClass: null,
  excludeSpam: false,
  excludeUnpriced: false,
});

/** The wallets whose lists are remembered, and how many lists of each. */
const MAX_WALLETS = 10_000;
const MAX_LISTS = 4;

const listsRead = new WeakMap<LookupParts, LRUCache<string, readonly BalancesList[]>>();

const nameOf = ({ cachePartition }: OperationLookups, wallet: string): string =>
  `${cachePartition} ${wallet}`;

const listsOf = (operation: OperationLookups, wallet: string): readonly BalancesList[] =>
  listsRead.get(operation.gateway)?.get(nameOf(operation, wallet)) ?? [];

/** Remembers that a list is read: its page may answer for a single balance. */
export const noteList = (operation: OperationLookups, list: BalancesList): void => {
  if (list.assetClass !== null || list.excludeSpam || list.excludeUnpriced) return;
  const { gateway } = operation;
  const lists = listsRead.get(gateway) ?? new LRUCache(atMostEntries(MAX_WALLETS));
  listsRead.set(gateway, lists);
  const others = listsOf(operation, list.address).filter(({ chains }) => chains !== list.chains);
  lists.set(nameOf(operation, list.address), [list, ...others].slice(0, MAX_LISTS));
};

/** What the service says is missing in an answer. */
type Troubles = {
  /** The chains that are missing, wholly or in part. */
  readonly chainIds: ReadonlySet<number>;
  /** Whether something is missing of which the service does not name the chain. */
  readonly isOfUnknownChain: boolean;
};

const NONE: Troubles = { chainIds: new Set(), isOfUnknownChain: false };

/** Reads the chains that errors and warnings beside good data name. */
export const troublesIn = (partialErrors: PartialErrors | null): Troubles => {
  if (partialErrors === null) return NONE;
  const { errors, warnings } = partialErrors;
  const failures = listOf(errors).flatMap((error) =>
    isObject(error) && Array.isArray(error.token_errors) && error.token_errors.length > 0
      ? error.token_errors.map((each: unknown) => (isObject(each) ? [each.chain_id] : []))
      : [[]],
  );
  const warned = listOf(warnings).map((warning) =>
    isObject(warning) && Array.isArray(warning.chain_ids) ? warning.chain_ids : [],
  );
  const ids = [...failures, ...warned].map((group) => group.flatMap(chainIdIn));
  return { chainIds: new Set(ids.flat()), isOfUnknownChain: ids.some((group) => group.length === 0) };
};

/** What the service says of what is missing. */
const sentencesIn = (partialErrors: PartialErrors | null): readonly string[] => {
  const failures = listOf(partialErrors?.errors).flatMap((error) =>
    isObject(error) ? listOf(error.token_errors) : [],
  );
  return [...failures, ...listOf(partialErrors?.warnings)]
    .map((each) => (isObject(each) ? (each.description ?? each.message) : null))
    .filter((each) => typeof each === 'string');
};

const chainIdIn = (value: unknown): readonly number[] => {
  const id = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 ? [id] : [];
};

const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
