import type {
  ActivityType,
  AssetType,
  TransactionDirection,
  WebhookPartsFragment,
  WebhookQuery,
  WebhookType,
} from '../__generated__/operations.ts';
import { type NameOfChain, shorten, shortHex } from '../format.ts';

/** One that is read alone has its first address, and the attempts to deliver; null where the service lists none. */
export type Webhook = WebhookPartsFragment &
  Partial<Pick<WebhookAlone, 'addresses'>> & { readonly attempts?: readonly Attempt[] | null | undefined };

/** Without its body until the webhook's deliveries are shown. */
type Attempt = Omit<NonNullable<WebhookAlone['attempts']>[number], 'payload'> & {
  readonly payload?: unknown;
};

type WebhookAlone = NonNullable<WebhookQuery['webhook']>;

/** What came of one delivery: its attempts, the last one first. */
export type Tried = {
  readonly webhook: Webhook;
  readonly last: Attempt;
  readonly attempts: readonly Attempt[];
};

/** The deliveries that the service says to have tried. */
export const triedOf = (webhook: Webhook): readonly Tried[] =>
  [...Map.groupBy(webhook.attempts ?? [], ({ deliveryId }) => deliveryId).values()].flatMap((all) =>
    all[0] ? { webhook, last: all[0], attempts: all } : [],
  );

/** Why a connection failed, by what the service's own library says. `at` names the receiver. */
const CAUSES: readonly (readonly [said: RegExp, cause: (at: string) => string])[] = [
  [/ECONNREFUSED/, (at) => `nothing answers at ${at}: the connection was refused`],
  [/ENOTFOUND|EAI_AGAIN/, (at) => `no server has the name in ${at}`],
  [/EHOSTUNREACH|ENETUNREACH/, (at) => `no network leads to ${at}`],
  [/ECONNRESET|EPIPE|other side closed/i, (at) => `${at} closed the connection`],
  [/time(?:d )?-?out|ETIMEDOUT/i, (at) => `${at} did not answer in time`],
  [/certificate|SELF_SIGNED|CERT_/i, (at) => `the certificate of ${at} is not trusted`],
];

/** Why a delivery was not accepted: the reason of the gateway itself says more than what the service got. */
export const causeOf = ({ url, refusedDeliveries }: Webhook, { status, problem }: Attempt): string => {
  const known = refusedDeliveries?.find((refused) => refused.status === status)?.reason;
  if (known !== undefined) return known;
  const [, cause] = CAUSES.find(([said]) => status === null && said.test(problem ?? '')) ?? [];
  // The rest of the URL may hold a secret.
  return cause?.(URL.parse(url ?? '')?.origin ?? 'its URL') ?? problem ?? '';
};

export const TYPES: Readonly<Record<WebhookType, string>> = {
  TRANSACTIONS: 'Transactions',
  ACTIVITIES: 'Activities',
  BALANCES: 'Balance changes',
};

export const ALL_TYPES = ['TRANSACTIONS', 'ACTIVITIES', 'BALANCES'] as const satisfies readonly WebhookType[];

export const ASSETS: Readonly<Record<AssetType, string>> = {
  NATIVE: 'native currency',
  ERC20: 'ERC-20',
  ERC721: 'ERC-721',
  ERC1155: 'ERC-1155',
};

export const ACTIVITIES: Readonly<Record<ActivityType, string>> = {
  APPROVE: 'approvals',
  BURN: 'burns',
  CALL: 'calls',
  MINT: 'mints',
  RECEIVE: 'incoming transfers',
  SEND: 'outgoing transfers',
  SWAP: 'swaps',
};

export const SIDES: Readonly<Record<TransactionDirection, string>> = {
  SENDER: 'as the sender',
  RECEIVER: 'as the receiver',
};

const MOST_CHAINS = 6;

export const typeOf = ({ type }: Pick<Webhook, 'type'>): string =>
  type === null ? 'unknown type' : TYPES[type];

/** A URL's host. The rest of it may hold a secret. */
export const hostOf = (url: string): string => shorten(URL.parse(url)?.host || url, 80);

export const destinationOf = ({ deliversHere, url }: Webhook): string => {
  if (deliversHere) return 'delivers here';
  return url === null ? 'no URL' : `delivers to ${hostOf(url)}`;
};

export const chainsOf = ({ chainIds }: Webhook, nameOf: NameOfChain): string => {
  if (chainIds === null) return 'all chains';
  if (chainIds.length === 0) return 'no chain';
  const names = chainIds.slice(0, MOST_CHAINS).map(nameOf);
  const more = chainIds.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};

const WATCHES = /^watchWallet (0x[\da-f]{40})$/i;

/** The wallet that the gateway watches with this webhook, by the name and the URL that it gives it; null for any other. */
export const watchedBy = ({ name, deliversHere }: Pick<Webhook, 'name' | 'deliversHere'>): string | null =>
  (deliversHere && WATCHES.exec(name ?? '')?.[1]?.toLowerCase()) || null;

/** Its name; of a webhook of a watch, whose wallet that is. */
export const titleOf = (webhook: Webhook): string => {
  const address = watchedBy(webhook);
  if (address !== null) return `watch of ${shortHex(address)}`;
  return webhook.name?.trim() ? shorten(webhook.name, 80) : 'unnamed webhook';
};

/** `transactions, activities and balance changes`. */
export const inTypes = (types: readonly WebhookType[]): string =>
  inList.format(types.map((type) => TYPES[type].toLowerCase()));

const inList = new Intl.ListFormat('en-GB');

/** Its filters except for the chains, in words. */
export const filtersOf = (webhook: Webhook): readonly string[] => {
  const { tokenAddress, assetType, activityType, transactionType, counterparty } = webhook;
  const filters = [
    activityType && ACTIVITIES[activityType],
    transactionType && SIDES[transactionType],
    counterparty && `with ${shortHex(counterparty)}`,
    assetType && ASSETS[assetType],
    tokenAddress && `token ${shortHex(tokenAddress)}`,
  ];
  return filters.filter((filter) => filter !== null);
};

const inSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The gateway names a variable's path: `input.url`, or `has invalid value at .addresses[1]`. */
const PATH = /(?:\binput| at )\.(\w+)/;

/** It is a word of nearly every refusal, as in "the target type" and "invalid type", so any other name goes before it. */
const EVERYDAY = 'type';

const firstMention = (message: string, field: string): number =>
  message.search(new RegExp(`\\b(?:${field}|${inSnakeCase(field)})\\b`));

/** The field that a message is about: the one whose path it holds, or the first that it names. Null when it names none. */
export const fieldOf = <Field extends string>(message: string, fields: readonly Field[]): Field | null => {
  const path = PATH.exec(message)?.[1];
  if (path !== undefined) return fields.find((field) => field === path) ?? null;
  const [first] = fields
    .map((field) => ({ field, at: firstMention(message, field) }))
    .filter(({ at }) => at >= 0)
    .map(({ field, at }) => ({ field, rank: field === EVERYDAY ? Number.MAX_SAFE_INTEGER : at }))
    .toSorted((one, other) => one.rank - other.rank);
  return first?.field ?? null;
};
