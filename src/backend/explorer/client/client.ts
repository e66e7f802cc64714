import { createHash, randomUUID } from 'node:crypto';
import { readAnswer, type Sent } from './answers.ts';
import { type Clock, type ExplorerChain, type Lookup, systemClock } from './chain.ts';
import { ExplorerError, type Fault, OF_KEY } from './errors.ts';
import { createFlights, type Flight } from './flights.ts';
import { createHttp } from './http.ts';
import { createLimits, type Limits, type LimitsState } from './limits.ts';
import { type ItemOperation, type ListOperation, OPERATIONS, type Query } from './operations.ts';
import type { Cursor } from './order.ts';
import { type Dialect, dialectOf, MalformedError, type Page, parseAt, queryOf, readPage } from './paging.ts';
import { createQueue, type Queue } from './queue.ts';
import { keepShared, type RecordStore } from './shared-limits.ts';
import { createUnserved } from './unserved.ts';

/** What is known of one limit of requests: the hosted API's, or that of an instance. */
type HostState = LimitsState & {
  /** Without credentials. */
  readonly host: string;
  readonly waiting: number;
  readonly running: number;
  /** By the name of the operation. Only the hosted API counts credits. */
  readonly spent: ReadonlyMap<string, Spent>;
  /** Whether it has ever answered. */
  readonly hasAnswered: boolean;
  /** Why it is not asked now, or why it refused the last request with the key; null where it does neither. */
  readonly problem: Fault | null;
};

type Spent = { readonly requests: number; readonly credits: number };

/** Asks explorers. Every failure is an ExplorerError, or the reason of the lookup's signal. */
export type ExplorerClient = {
  /** A lookup whose time begins now. By default each subject is a client of its own. */
  lookup(
    subject: string,
    signal?: AbortSignal | null,
    more?: Partial<Pick<Lookup, 'client' | 'background'>>,
  ): Lookup;
  /** The lookup with half of the time that it has left, for a request that another one may take the place of. */
  half(lookup: Lookup): Lookup;
  /**
   * Resolves with a page of a list, its newest or greatest rows for a null cursor, and at most `limit` rows where the explorer lets
   * a request say so. Rejects with the fault `notFound` where the explorer does not know what the list is of.
   */
  list<Parameters, Row>(
    chain: ExplorerChain,
    operation: ListOperation<Parameters, Row>,
    parameters: Parameters,
    cursor: Cursor | null,
    lookup: Lookup,
    limit?: number,
  ): Promise<Page<Row>>;
  /** Resolves with null for what the explorer does not know, where it need not know all. */
  one<Parameters, Value>(
    chain: ExplorerChain,
    operation: ItemOperation<Parameters, Value>,
    parameters: Parameters,
    lookup: Lookup,
  ): Promise<Value | null>;
  /**
   * Learns the version of a chain's explorer unless it is known; null where the explorer does not say it. Lists do this by
   * themselves. Rejects with the fault `tooOld` for a version that is not supported.
   */
  version(chain: ExplorerChain, lookup: Lookup): Promise<number | null>;
  state(): readonly HostState[];
  close(): Promise<void>;
};

export type ExplorerClientOptions = {
  /** Names the program to explorers. */
  readonly userAgent: string;
  /** The time that a lookup has. Default: 10 seconds. */
  readonly timeoutMs?: number;
  /** Default: that of the system. */
  readonly clock?: Clock;
  /** Hears of each success, as it came. */
  readonly onAnswer?: (chainId: number, operation: string, body: unknown) => void;
  /** Where processes with the same keys keep their limits together. Default: each has its own. */
  readonly records?: RecordStore;
};

const TIMEOUT_MS = 10_000;
/** Before the one retry after a failure. */
const RETRY_MS = 250;
const MAX_ROWS = 100;
const OLDEST_MAJOR = 11;
const SIZED_MAJOR = 12;

/** One limit of requests. */
type Host = {
  readonly name: string;
  readonly limits: Limits;
  readonly queue: Queue;
  readonly spent: Map<string, Spent>;
  hasAnswered: boolean;
  /** Lasts longer than the pause after it. */
  refused: Fault | null;
};

type Request = {
  readonly chain: ExplorerChain;
  readonly operation: Pick<ListOperation<never, unknown>, 'name' | 'credits' | 'style'>;
  readonly path: string;
  readonly query: Query;
};

export const createExplorerClient = (options: ExplorerClientOptions): ExplorerClient => {
  const { userAgent, timeoutMs = TIMEOUT_MS, clock = systemClock, onAnswer = () => {} } = options;
  const processId = randomUUID();
  const http = createHttp(userAgent);
  const flights = createFlights<unknown>(clock);
  const hosts = new Map<string, Host>();
  const majors = new Map<string, number | null>();
  const dialects = new Map<string, Dialect>();
  const unserved = createUnserved(clock.now);

  /** Chains of the hosted API share one limit. An instance has two: the route in the style of Etherscan has its own. */
  const hostOf = ({ chain, operation }: Request): Host => {
    const { host } = new URL(chain.baseUrl);
    const name = chain.isHosted || operation.style === undefined ? host : `${host} ${operation.style}`;
    const known = hosts.get(name);
    if (known !== undefined) return known;
    const { records } = options;
    const keeper = records && keepShared(records, accountOf(name, chain), chain.isHosted, clock, processId);
    const limits = createLimits(chain.isHosted, clock, keeper);
    const made = {
      ...{ name, limits, queue: createQueue(limits, clock), spent: new Map<string, Spent>() },
      ...{ hasAnswered: false, refused: null },
    };
    hosts.set(name, made);
    return made;
  };

  /** One attempt, in its turn. */
  const exchange = async (
    request: Request,
    host: Host,
    url: URL,
    { background }: Lookup,
    signal: AbortSignal,
  ): Promise<unknown> => {
    const { chain, operation, query } = request;
    const { limits, spent } = host;
    const { requests, credits } = spent.get(operation.name) ?? { requests: 0, credits: 0 };
    const cost = chain.isHosted ? operation.credits : 0;
    spent.set(operation.name, { requests: requests + 1, credits: credits + cost });
    background?.spend(cost);
    const answer = await withTimeout(clock, timeoutMs, signal, (ended) =>
      http.get(url, chain.headers, ended),
    ).catch((problem: unknown) => {
      limits.unanswered(operation.credits);
      throw problem;
    });
    if ('fault' in answer) {
      limits.unanswered(operation.credits);
      throw new ExplorerError(chain.id, answer.fault);
    }
    const sent = sentOf(chain, operation.style, query, clock.now());
    const read = readAnswer(answer, sent);
    if ('fault' in read) {
      const fault = await limits.failed(operation.credits, answer, read.fault);
      if (OF_KEY.has(fault.kind) || fault.kind === 'blocked') host.refused = fault;
      if (fault.kind === 'notHosted') unserved.refused(chain.id, fault);
      throw new ExplorerError(chain.id, fault);
    }
    limits.succeeded(operation.credits, answer);
    Object.assign(host, { hasAnswered: true, refused: null });
    // An old version says so itself.
    if (operation.name !== OPERATIONS.backendVersion.name) unserved.served(chain.id);
    const { body } = read;
    onAnswer(chain.id, operation.name, body);
    return body;
  };

  const attempts = async (request: Request, url: URL, lookup: Lookup, flight: Flight): Promise<unknown> => {
    const { chain, operation } = request;
    const host = hostOf(request);
    const { client, subject } = lookup;
    const turn = { client, subject, chainId: chain.id, credits: operation.credits, ...flight };
    const toError = (fault: Fault) => new ExplorerError(chain.id, fault);
    const attempt = () =>
      host.queue.run(turn, toError, () => exchange(request, host, url, lookup, flight.signal));
    try {
      return await attempt();
    } catch (problem) {
      if (!isPassing(problem) || clock.now() + RETRY_MS >= flight.endsAt()) throw problem;
      await pause(clock, RETRY_MS, flight.signal);
      return attempt();
    }
  };

  /** The body of a success, of one request for all that want it now. */
  const ask = async (request: Request, lookup: Lookup): Promise<unknown> => {
    const fault = unserved.faultOf(request.chain.id);
    if (fault !== null) throw new ExplorerError(request.chain.id, fault);
    const url = urlOf(request);
    return flights.share(
      `${request.chain.id} ${url.href}`,
      lookup,
      (flight) => attempts(request, url, lookup, flight),
      () => new ExplorerError(request.chain.id, { kind: 'timeout' }),
    );
  };

  const one: ExplorerClient['one'] = async (chain, operation, parameters, lookup) => {
    const { path, query } = operation;
    const request = { chain, operation, path: path(parameters), query: query?.(parameters) ?? {} };
    try {
      const body = await ask(request, lookup);
      return reading(chain, () => parseAt(operation.value, body, ''));
    } catch (problem) {
      if (
        operation.mayBeAbsent === true &&
        problem instanceof ExplorerError &&
        problem.fault.kind === 'notFound'
      )
        return null;
      throw problem;
    }
  };

  const version: ExplorerClient['version'] = async (chain, lookup) => {
    const known = majors.get(chain.baseUrl);
    if (known !== undefined) return known;
    const said = await one(chain, OPERATIONS.backendVersion, {}, lookup);
    const major = majorOf(said?.backend_version ?? null);
    if (major !== null && major < OLDEST_MAJOR) {
      const fault = { kind: 'tooOld', major } as const;
      unserved.refused(chain.id, fault);
      throw new ExplorerError(chain.id, fault);
    }
    unserved.served(chain.id);
    majors.set(chain.baseUrl, major);
    return major;
  };

  /** How the chain's explorer pages. One that can't say its version now is asked without a size, until a cursor shows it. */
  const dialectFor = async (chain: ExplorerChain, lookup: Lookup): Promise<Dialect> => {
    const known = dialects.get(chain.baseUrl);
    if (known !== undefined) return known;
    const major = await version(chain, lookup).catch((problem: unknown) => {
      if (problem instanceof ExplorerError && SAYS_NOTHING.has(problem.fault.kind)) return null;
      throw problem;
    });
    const dialect = major === null ? null : major < SIZED_MAJOR ? 11 : 12;
    if (!dialects.has(chain.baseUrl)) dialects.set(chain.baseUrl, dialect);
    return dialects.get(chain.baseUrl) ?? null;
  };

  const list: ExplorerClient['list'] = async (
    chain,
    operation,
    parameters,
    cursor,
    lookup,
    limit = MAX_ROWS,
  ) => {
    const { path, style } = operation;
    const isKeyset = style === undefined;
    const dialect = isKeyset ? await dialectFor(chain, lookup) : null;
    const query = queryOf(operation.query?.(parameters) ?? {}, cursor, dialect, limit);
    const body = await ask({ chain, operation, path: path(parameters), query }, lookup).catch(
      (problem: unknown) => {
        // Its version may have changed since.
        if (problem instanceof ExplorerError && problem.fault.kind === 'rejected') forget(chain);
        throw problem;
      },
    );
    const page = reading(chain, () => readPage(operation, body, { cursor, query }));
    // Instances are updated while the gateway runs.
    if (isKeyset && page.next !== null) dialects.set(chain.baseUrl, dialectOf(page.next));
    return page;
  };

  const forget = ({ baseUrl }: ExplorerChain): void => {
    dialects.delete(baseUrl);
    majors.delete(baseUrl);
  };

  return {
    lookup: (subject, signal = null, { client = subject, background } = {}) => ({
      ...{ client, subject, signal, endsAt: clock.now() + timeoutMs },
      ...(background && { background }),
    }),
    half(lookup) {
      const now = clock.now();
      return { ...lookup, endsAt: now + Math.floor(Math.max(0, lookup.endsAt - now) / 2) };
    },
    list,
    one,
    version,
    state: () =>
      [...hosts.values()].map(({ name, limits, queue, spent, hasAnswered, refused }) => {
        const state = limits.state();
        const problem = state.pause?.fault ?? refused;
        return { host: name, spent, hasAnswered, problem, ...state, ...queue.counts() };
      }),
    close: () => http.close(),
  };
};

/** Faults of the question for the version after which lists may work all the same. */
const SAYS_NOTHING: ReadonlySet<Fault['kind']> = new Set(['failed', 'malformed', 'rejected', 'restricted']);

const majorOf = (version: string | null): number | null => {
  const digits = /^v?(\d{1,4})\./.exec(version ?? '')?.[1];
  return digits === undefined ? null : Number(digits);
};

const urlOf = ({ chain, operation, path, query }: Request): URL => {
  const base = operation.style === 'etherscan' ? chain.baseUrl.replace(/\/api\/v2$/, '') : chain.baseUrl;
  const url = new URL(base + path);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, value);
  return url;
};

const sentOf = (
  { isHosted, headers }: ExplorerChain,
  style: Sent['style'],
  query: Query,
  now: number,
): Sent => ({
  ...{ isHosted, style, now },
  hasKey: 'authorization' in headers,
  parameters: Object.keys(query),
});

/** Names who is counted: a key at the hosted API, or an address at an instance. It reveals no key. */
const accountOf = (host: string, { headers }: ExplorerChain): string =>
  `${host} ${createHash('sha256')
    .update(headers.authorization ?? '')
    .digest('base64url')}`;

/** Runs `read`, which throws MalformedError. */
const reading = <Result>({ id }: ExplorerChain, read: () => Result): Result => {
  try {
    return read();
  } catch (problem) {
    throw problem instanceof MalformedError ? new ExplorerError(id, problem.fault) : problem;
  }
};

/** Whether the same request may succeed in a moment. */
const isPassing = (problem: unknown): boolean =>
  problem instanceof ExplorerError &&
  (problem.fault.kind === 'unreachable' || (problem.fault.kind === 'failed' && problem.fault.status >= 500));

/** Resolves after `ms` milliseconds. Rejects with the reason of the signal when it aborts. */
const pause = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = clock.after(ms, () => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
    const abort = (): void => {
      stop();
      reject(signal.reason);
    };
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
  });

/** Runs `get` with a signal that also aborts after `ms` milliseconds, which then is why there is no answer. */
const withTimeout = async <Result>(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  get: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | { readonly fault: Fault }> => {
  const timeout = new AbortController();
  const stop = clock.after(ms, () => timeout.abort());
  try {
    return await get(AbortSignal.any([signal, timeout.signal]));
  } catch (problem) {
    signal.throwIfAborted();
    if (timeout.signal.aborted) return { fault: { kind: 'timeout' } };
    throw problem;
  } finally {
    stop();
  }
};
