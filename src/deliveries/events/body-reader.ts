import type { ByteBudget } from '../log/byte-budget.ts';
import { BudgetSpentError } from '../log/errors.ts';
import type { StoredDelivery } from '../log/log.ts';
import { isWithinLimits, parseStored, scanJson } from './body.ts';
import { eventCountIn, eventsIn, type ReadEvent } from './payload.ts';

/** What a body is given as. */
type View = 'payload' | 'events';

/**
 * What a value, and an event, count for at least: less than they have of a real body, and about a quarter of what they
 * take of the memory where a body is made to have as many as it can.
 */
const BYTES_A_VALUE = 16;
const BYTES_AN_EVENT = 256;

type ParsedBody = {
  readonly payload: Promise<unknown>;
  eventCount: number | null;
  events: readonly ReadEvent[] | null;
  /** What giving it once comes to, in bytes. */
  readonly bytes: number;
  readonly given: Set<View>;
};

/**
 * The bodies that one operation reads, each once, however often it is asked for. That they were read from the log is
 * paid for: what is taken from the budget is what a body comes to beyond its bytes, and all of it for each time that it
 * is given again. Both reject with BudgetSpentError when there is not as much left.
 */
export class BodyReader {
  readonly #budget: ByteBudget;
  readonly #known = new WeakMap<StoredDelivery, ParsedBody>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** The body itself; see `parseStored`. */
  payload(delivery: StoredDelivery): Promise<unknown> {
    return this.#inTurn(() => {
      const reading = this.#read(delivery);
      this.#charge(delivery, reading, 'payload', reading.bytes);
      return reading.payload;
    });
  }

  /** See `eventsIn`. The events of one address cost as much as all, since all items are looked through. */
  events(delivery: StoredDelivery, address: string | null): Promise<readonly ReadEvent[]> {
    return this.#inTurn(async () => {
      const reading = this.#read(delivery);
      const payload = await reading.payload;
      reading.eventCount ??= eventCountIn(payload);
      this.#charge(delivery, reading, 'events', Math.max(reading.bytes, reading.eventCount * BYTES_AN_EVENT));
      if (address !== null) return eventsIn(payload, delivery, address);
      reading.events ??= eventsIn(payload, delivery);
      return reading.events;
    });
  }

  /** One body after the other: none is parsed that the budget has no room for once those before it are given. */
  #inTurn<Given>(give: () => Promise<Given>): Promise<Given> {
    const given = this.#last.then(give);
    this.#last = given.catch(ignore);
    return given;
  }

  #read(delivery: StoredDelivery): ParsedBody {
    const known = this.#known.get(delivery);
    if (known) return known;
    const { body } = delivery;
    const size = scanJson(body);
    const bytes = isWithinLimits(size) ? Math.max(size.bytes, size.values * BYTES_A_VALUE) : size.bytes;
    this.#take(delivery, bytes - size.bytes);
    const payload = parseStored(body, size);
    // Where the budget refuses it, nothing waits for it: a failure that nothing listens to ends the process.
    payload.catch(ignore);
    const reading: ParsedBody = {
      payload,
      eventCount: null,
      events: null,
      bytes,
      given: new Set(),
    };
    this.#known.set(delivery, reading);
    return reading;
  }

  /** `bytes` is what giving it in this form comes to. */
  #charge(delivery: StoredDelivery, reading: ParsedBody, form: View, bytes: number): void {
    this.#take(delivery, reading.given.has(form) ? bytes : bytes - reading.bytes);
    reading.given.add(form);
  }

  #take({ cursor }: StoredDelivery, bytes: number): void {
    if (!this.#budget.take(bytes)) throw new BudgetSpentError(cursor);
  }
}

const ignore = () => {};
