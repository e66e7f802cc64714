import { createKeyedQueue } from '../../lib/scheduling/keyed-queue.ts';
import type { ByteBudget } from '../log/byte-budget.ts';
import { BudgetExceededError } from '../log/errors.ts';
import type { StoredDelivery } from '../log/log.ts';
import { isWithinLimits, parseStored, scanJson } from './body.ts';
import { eventCountIn, eventsIn, type ReadEvent } from './payload.ts';

/** The fields that show a body. */
type View = 'payload' | 'events';

/**
 * The least that a JSON value, and an event, count for. In real bodies both have more bytes. In a body that is made of as
 * many as possible, each takes about four times as much memory.
 */
const BYTES_PER_VALUE = 16;
const BYTES_PER_EVENT = 256;

type ParsedBody = {
  readonly payload: Promise<unknown>;
  eventCount: number | null;
  events: readonly ReadEvent[] | null;
  /** The charge for showing it once, in bytes. */
  readonly bytes: number;
  /** The views that were charged before. */
  readonly shown: Set<View>;
};

/**
 * Parses the bodies of one operation, each at most once. The bytes that were read from the log are already charged to the
 * budget. This charges the parsed size above that, and the full size again for every further selection. Both methods reject
 * with BudgetExceededError when the budget has less left.
 */
export class BodyReader {
  readonly #budget: ByteBudget;
  readonly #known = new WeakMap<StoredDelivery, ParsedBody>();
  readonly #queue = createKeyedQueue();

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** The parsed body; see `parseStored`. */
  payload(delivery: StoredDelivery): Promise<unknown> {
    return this.#inOrder(async () => {
      const parsed = this.#parse(delivery);
      this.#charge(delivery, parsed, 'payload', parsed.bytes);
      return parsed.payload;
    });
  }

  /** The events of the body; see `eventsIn`. One address costs as much as all, because all items are searched. */
  events(delivery: StoredDelivery, address: string | null): Promise<readonly ReadEvent[]> {
    return this.#inOrder(async () => {
      const parsed = this.#parse(delivery);
      const payload = await parsed.payload;
      parsed.eventCount ??= eventCountIn(payload);
      this.#charge(delivery, parsed, 'events', Math.max(parsed.bytes, parsed.eventCount * BYTES_PER_EVENT));
      if (address !== null) return eventsIn(payload, delivery, address);
      parsed.events ??= eventsIn(payload, delivery);
      return parsed.events;
    });
  }

  /** Runs the tasks one after another, so that no body is parsed after those before it have used the budget up. */
  #inOrder<Result>(task: () => Promise<Result>): Promise<Result> {
    return this.#queue('bodies', task);
  }

  #parse(delivery: StoredDelivery): ParsedBody {
    const known = this.#known.get(delivery);
    if (known) return known;
    const { body } = delivery;
    const size = scanJson(body);
    const bytes = isWithinLimits(size) ? Math.max(size.bytes, size.values * BYTES_PER_VALUE) : size.bytes;
    this.#spend(delivery, bytes - size.bytes);
    const payload = parseStored(body, size);
    // If the budget is exceeded, nothing awaits this promise, and an unhandled rejection would end the process.
    payload.catch(ignore);
    const parsed: ParsedBody = {
      payload,
      eventCount: null,
      events: null,
      bytes,
      shown: new Set(),
    };
    this.#known.set(delivery, parsed);
    return parsed;
  }

  /** Charges a view of `bytes`. `parsed.bytes` of it are charged already before the first time. */
  #charge(delivery: StoredDelivery, parsed: ParsedBody, view: View, bytes: number): void {
    this.#spend(delivery, parsed.shown.has(view) ? bytes : bytes - parsed.bytes);
    parsed.shown.add(view);
  }

  #spend({ cursor }: StoredDelivery, bytes: number): void {
    if (!this.#budget.tryCharge(bytes)) throw new BudgetExceededError(cursor);
  }
}

const ignore = () => {};
