import { createHash } from 'node:crypto';
import { sizeOfJson } from '../json-size.ts';
import type { Webhook, WebhookType } from './webhook.ts';

/**
 * The bodies of deliveries. A receiver takes a body as a whole or not at all, and this project's gateway takes 5 MB, 250,000 JSON
 * values and 10,000 events. So the events of a block are split into bodies far below that.
 */

/** The size from which the next event begins another body. */
const FULL_BYTES = 1_000_000;
/** An event beyond it is delivered without its large parts. */
const MAX_ITEM_BYTES = 3_500_000;

type Item = Readonly<Record<string, unknown>>;

/** An event as it stands in a body. */
export type WrittenItem = {
  readonly json: string;
  readonly bytes: number;
  /** The names of what was left out of it, as it would have been too large. Such an event has a body of its own, which says so. */
  readonly omitted: readonly string[];
};

const withoutCallData = ({ data: _data, decoded: _decoded, function: _function, ...item }: Item): Item =>
  item;

const withoutLogData = ({ logs, ...item }: Item): Item =>
  Array.isArray(logs) ? { ...item, logs: logs.map(withoutCallData) } : item;

const withoutLogs = ({ logs: _logs, ...item }: Item): Item => item;

/** The reduced forms of an event that is too large: the first one that is small enough is sent. */
const SMALLER: readonly ((item: Item) => Item)[] = [
  withoutCallData,
  withoutLogData,
  (item) => withoutLogData(withoutCallData(item)),
  (item) => withoutLogs(withoutCallData(item)),
];

/** Writes an event, once for all webhooks that it goes to. */
export const writeItem = (item: Item): WrittenItem => {
  let [left, json] = [item, JSON.stringify(item)];
  for (const smaller of SMALLER) {
    if (sizeOfJson(json) <= MAX_ITEM_BYTES) break;
    left = smaller(item);
    json = JSON.stringify(left);
  }
  const omitted = omittedFrom(item, left);
  const bytes = Buffer.byteLength(json);
  return { json, bytes: omitted.length === 0 ? bytes : Math.max(bytes, FULL_BYTES), omitted };
};

const omittedFrom = (item: Item, left: Item): readonly string[] => {
  const names = Object.keys(item).filter((name) => item[name] !== undefined && !(name in left));
  return left.logs === undefined || left.logs === item.logs ? names : [...names, 'logs.data', 'logs.decoded'];
};

/** The member of a body that holds the events of a webhook's type. */
const KEYS = {
  transactions: 'transactions',
  activities: 'activities',
  balances: 'balance_changes',
} as const satisfies Record<WebhookType, string>;

/** Collects the events that one webhook gets of a block, and writes them into bodies. */
export class Bodies {
  readonly #key: string;
  /** The parts that delivery ids are hashed from. */
  readonly #occasion: string;
  #items: WrittenItem[] = [];
  #bytes = 0;
  /** Where in `#items` those of the newest transaction begin. */
  #transactionAt = 0;
  #transaction = '';
  #written = 0;

  /** `block` names the block, or the part of it. */
  constructor({ id, type }: Pick<Webhook, 'id' | 'type'>, chainId: number, block: string) {
    this.#key = KEYS[type];
    this.#occasion = `${id} ${chainId} ${block}`;
  }

  /**
   * Adds an event. Yields what is complete before it. Events of one transaction come one after another, and are in one body,
   * unless they fill one alone.
   */
  *add(transaction: string, item: WrittenItem): Generator<string> {
    while (this.#items.length > 0 && this.#bytes + item.bytes > FULL_BYTES) yield this.#cut(transaction);
    if (transaction !== this.#transaction) {
      this.#transaction = transaction;
      this.#transactionAt = this.#items.length;
    }
    this.#items.push(item);
    this.#bytes += item.bytes;
  }

  /** Returns the body of what was added last. */
  end(): string {
    return this.#write(this.#items);
  }

  #cut(transaction: string): string {
    const isWithin = transaction === this.#transaction && this.#transactionAt > 0;
    const at = isWithin ? this.#transactionAt : this.#items.length;
    const left = this.#items.slice(at);
    const body = this.#write(this.#items.slice(0, at));
    this.#items = left;
    this.#bytes = left.reduce((bytes, item) => bytes + item.bytes, 0);
    this.#transactionAt = 0;
    return body;
  }

  #write(items: readonly WrittenItem[]): string {
    const [{ omitted = [] } = {}] = items;
    const more = { ...(omitted.length > 0 && { omitted }), delivery_id: this.#nextId() };
    return `{"${this.#key}":[${items.map(({ json }) => json).join(',')}],${JSON.stringify(more).slice(1)}`;
  }

  /** The same for a block that is indexed again, as after a power failure, and different for another block with equal events. */
  #nextId(): string {
    return createHash('sha256')
      .update(`${this.#occasion} ${this.#written++}`)
      .digest('hex')
      .slice(0, 32);
  }
}
