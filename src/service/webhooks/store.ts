import { randomBytes } from 'node:crypto';
import type { Hex } from '../types.ts';
import type { AddressChange, Change, Creation } from './requests.ts';
import type { Webhook } from './webhook.ts';

/** The ULID of the one team that the sandbox's key belongs to. */
const TEAM_ID = '01JZ4R2V8W7Q5N3M1K9H6F0D2B';

export type Subscription = {
  /** Its position in the list of webhooks, which is never reused. */
  readonly sequence: number;
  webhook: Webhook;
  readonly addresses: Pick<AddressList, 'page' | 'values'>;
};

/** All webhooks, and an index from each address to the webhooks subscribed to it. */
export type Store = {
  find(id: string): Subscription | null;
  /** At most `limit` webhooks created after the one with the number `after`; 0 starts at the first. */
  page(after: number, limit: number): readonly Subscription[];
  /** Creates a webhook. Default: under a new id. */
  create(creation: Creation, id?: string): Webhook;
  update(id: string, change: Change): void;
  remove(id: string): void;
  /** Applies the removals first, then the additions. */
  changeAddresses(id: string, change: AddressChange): void;
  replaceAddresses(id: string, addresses: readonly Hex[]): void;
  subscribers(address: Hex): Iterable<Webhook>;
};

type StoredSubscription = Subscription & { readonly addresses: AddressList };

/** Creates an empty store. `now` is in milliseconds since 1970. Changes under an unknown id have no effect. */
export const createStore = (now: () => number): Store => {
  const subscriptions = new Map<string, StoredSubscription>();
  const subscribersOf = new Map<Hex, Set<StoredSubscription>>();
  let last = 0;

  const subscribe = (subscription: StoredSubscription, addresses: readonly Hex[]): void => {
    subscription.addresses.add(addresses);
    for (const address of addresses) {
      const set = subscribersOf.get(address);
      if (set === undefined) subscribersOf.set(address, new Set([subscription]));
      else set.add(subscription);
    }
  };

  const unsubscribe = (subscription: StoredSubscription, addresses: readonly Hex[]): void => {
    subscription.addresses.remove(addresses);
    for (const address of addresses) {
      const set = subscribersOf.get(address);
      set?.delete(subscription);
      if (set?.size === 0) subscribersOf.delete(address);
    }
  };

  const change = (id: string, apply: (subscription: StoredSubscription) => Change): void => {
    const subscription = subscriptions.get(id);
    if (subscription === undefined) return;
    const settings = apply(subscription);
    const { webhook } = subscription;
    // Each change has a later time than the one before, also within a microsecond or after the clock was set back.
    const updated_at = Math.max(Math.floor(now() * 1000), webhook.updated_at + 1);
    subscription.webhook = { ...webhook, ...settings, updated_at };
  };

  return {
    find: (id) => subscriptions.get(id) ?? null,
    page: (after, limit) =>
      subscriptions
        .values()
        .filter(({ sequence }) => sequence > after)
        .take(limit)
        .toArray(),
    create(creation, id = uuidV7(now())) {
      const created_at = Math.floor(now() * 1000);
      const { type, settings } = creation;
      const webhook = { id, team_id: TEAM_ID, type, ...settings, created_at, updated_at: created_at };
      const subscription: StoredSubscription = { sequence: ++last, webhook, addresses: createAddressList() };
      subscriptions.set(id, subscription);
      subscribe(subscription, creation.addresses);
      return webhook;
    },
    update: (id, settings) => change(id, () => settings),
    remove(id) {
      const subscription = subscriptions.get(id);
      if (subscription === undefined) return;
      unsubscribe(subscription, [...subscription.addresses.values()]);
      subscriptions.delete(id);
    },
    changeAddresses(id, { remove, add }) {
      change(id, (subscription) => {
        unsubscribe(subscription, remove);
        subscribe(subscription, add);
        return {};
      });
    },
    replaceAddresses(id, addresses) {
      change(id, (subscription) => {
        unsubscribe(subscription, [...subscription.addresses.values()]);
        subscribe(subscription, addresses);
        return {};
      });
    },
    *subscribers(address) {
      for (const { webhook } of subscribersOf.get(address) ?? []) yield webhook;
    },
  };
};

type Entry = readonly [address: Hex, sequence: number];

/** A webhook's addresses, each once, in the order in which they were added. */
type AddressList = {
  values(): Iterable<Hex>;
  /** Adds addresses. An address that is in the list already keeps its position. */
  add(addresses: readonly Hex[]): void;
  remove(addresses: readonly Hex[]): void;
  /** At most `limit` addresses after the one with the number `after`; 0 starts at the first. */
  page(after: number, limit: number): readonly Entry[];
};

/** The index of the first entry whose number is greater than `after`, by binary search. */
const firstBeyond = (entries: readonly Entry[], after: number): number => {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const number = entries[middle]?.[1] ?? 0;
    if (number > after) high = middle;
    else low = middle + 1;
  }
  return low;
};

/** Creates an empty list. Numbers are never reused, so a walk through the pages survives additions and removals. */
const createAddressList = (): AddressList => {
  const numbers = new Map<Hex, number>();
  let last = 0;
  // A cached array, so that paging through 100,000 addresses does not copy them for each page.
  let ordered: readonly Entry[] | null = null;

  return {
    values: () => numbers.keys(),
    add(addresses) {
      ordered = null;
      for (const address of addresses) {
        if (!numbers.has(address)) numbers.set(address, ++last);
      }
    },
    remove(addresses) {
      ordered = null;
      for (const address of addresses) numbers.delete(address);
    },
    page(after, limit) {
      ordered ??= [...numbers];
      const start = firstBeyond(ordered, after);
      return ordered.slice(start, start + limit);
    },
  };
};

const GROUP_LENGTHS = [8, 4, 4, 4, 12];

/** Creates a UUIDv7: the time in milliseconds, then 74 random bits. */
const uuidV7 = (milliseconds: number): string => {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Math.floor(milliseconds), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

type Unwrapped = { readonly digits: string; readonly start: number; readonly plain: boolean };

/** Removes the braces or the `urn:uuid:` prefix that a UUID may have. `start` is the position of its digits. */
const unwrap = (text: string): Unwrapped => {
  if (text.startsWith('{') && text.endsWith('}'))
    return { digits: text.slice(1, -1), start: 1, plain: false };
  if (text.startsWith('urn:uuid:')) return { digits: text.slice(9), start: 9, plain: false };
  return { digits: text, start: 0, plain: true };
};

const wrongCharacter = (digits: string, start: number): string | null => {
  const at = digits.search(/[^0-9a-fA-F-]/);
  if (at < 0) return null;
  const found = String.fromCodePoint(digits.codePointAt(at) ?? 0);
  const expected = 'an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-]';
  return `invalid character: expected ${expected}, found \`${found}\` at ${start + at + 1}`;
};

const wrongGroups = (groups: readonly string[]): string | null => {
  if (groups.length !== GROUP_LENGTHS.length)
    return `invalid group count: expected ${GROUP_LENGTHS.length}, found ${groups.length}`;
  const group = groups.findIndex((part, index) => part.length !== GROUP_LENGTHS[index]);
  if (group < 0) return null;
  return `invalid group length in group ${group}: expected ${GROUP_LENGTHS[group]}, found ${groups[group]?.length}`;
};

/** The service's message about a malformed UUID; null when the UUID is well-formed. */
export const uuidProblem = (text: string): string | null => {
  const { digits, start, plain } = unwrap(text);
  const character = wrongCharacter(digits, start);
  if (character !== null) return character;
  if (plain && !digits.includes('-')) {
    if (digits.length === 32) return null;
    return `invalid length: expected length 32 for simple format, found ${digits.length}`;
  }
  return wrongGroups(digits.split('-'));
};

/** The lower-case hyphenated form of a well-formed UUID. */
export const canonicalUuid = (text: string): string =>
  unwrap(text)
    .digits.replaceAll('-', '')
    .toLowerCase()
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
