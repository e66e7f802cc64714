/** A chain and the explorer that answers for it. */
export type ExplorerChain = {
  readonly id: number;
  /** Where its API is, such as `https://gnosis.example/api/v2`, without a slash at the end. */
  readonly baseUrl: string;
  /** Whether it is one of the hosted API's chains, which have one limit of requests and one account of credits together. */
  readonly isHosted: boolean;
  /** Sent with each request, such as the key's. Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
};

/** Who a request is made for: one lookup of one client. */
export type Lookup = {
  /** Clients take turns in the queue of an explorer, and then the subjects of one client, such as its wallets. */
  readonly client: string;
  readonly subject: string;
  /** Aborts the lookup; null for one that can't be cancelled. */
  readonly signal: AbortSignal | null;
  /** When its time is over, in milliseconds since 1970. Retries and queues count. */
  readonly endsAt: number;
  /** Set for a lookup that no client waits for: its requests start only while no other request can. Default: a client waits. */
  readonly background?: Background;
};

export type Background = {
  /** Hears of the credits of each request that is sent for it. */
  readonly spend: (credits: number) => void;
};

/** Reads the time in milliseconds since 1970, and wakes. */
export type Clock = {
  readonly now: () => number;
  /** Calls `run` once after `ms` milliseconds, unless the returned function is called before. */
  readonly after: (ms: number, run: () => void) => () => void;
};

/** A timer of more milliseconds would run at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: Date.now,
  after(ms, run) {
    const timer = setTimeout(run, Math.min(MAX_TIMER_MS, ms));
    return () => clearTimeout(timer);
  },
};
