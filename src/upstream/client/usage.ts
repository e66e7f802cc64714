/** What one operation has cost so far: every response has it as `extensions.upstream`. */
export class Usage {
  /** Upstream requests that the operation started, retries included. */
  requests = 0;
  /** Compute units of those requests; for a request under way, its price by the contract. */
  computeUnits = 0;
  /** Pages that cost the operation no request: cached ones, and those that another operation was fetching. */
  cached = 0;
  /** Those of the cached pages that were fresh only because no delivery had told of a change; absent for none. */
  declare watched?: number;
  #billed = 0;
  readonly #listeners: (() => void)[] = [];

  /** Compute units of the requests that have ended. */
  get billed(): number {
    return this.#billed;
  }

  /**
   * Calls back after each change of the compute units, also once the operation is answered: a request may outlive its
   * operation, for others that wait for it, or begin after it, as a refresh does that looks for the page elsewhere first.
   */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Counts an attempt at its price before it is sent, because the operation may be answered while it is under way. */
  reserve(price: number): Reservation {
    this.requests += 1;
    this.#add(price);
    const settle = (computeUnits: number) => {
      this.#billed += computeUnits;
      this.#add(computeUnits - price);
    };
    return {
      settle,
      release: () => {
        this.requests -= 1;
        settle(0);
      },
    };
  }

  #add(computeUnits: number): void {
    this.computeUnits += computeUnits;
    for (const listener of this.#listeners) listener();
  }
}

type Reservation = {
  /** The attempt has ended: replaces its price with what it cost. */
  settle(computeUnits: number): void;
  /** Removes the attempt: it ended before its turn to be sent. */
  release(): void;
};

/** Upstream bills no request that it answers so, unless it states a cost. */
const UNBILLED: ReadonlySet<number> = new Set([401, 402, 429]);

/**
 * What one attempt costs, as far as it is known: nothing until it is sent, then its price, and from the head of its answer
 * on what upstream states there. What becomes of the answer changes nothing. Where the connection breaks before an answer,
 * nobody can tell whether upstream has received the request: it counts as received.
 */
export class Bill {
  computeUnits = 0;
  readonly #price: number;

  constructor(price: number) {
    this.#price = price;
  }

  /** The request is written to a connection. */
  sent(): void {
    this.computeUnits = this.#price;
  }

  /** The head of the answer has arrived. */
  answered(status: number, headers: Headers): void {
    this.computeUnits = statedCost(headers) ?? (UNBILLED.has(status) ? 0 : this.#price);
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const statedCost = (headers: Headers): number | null => {
  const stated = headers['x-compute-units-cost'];
  return typeof stated === 'string' && /^\d{1,9}$/.test(stated) ? Number(stated) : null;
};
