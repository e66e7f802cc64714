import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, monotonicClock, raceWithTimeout } from '../../lib/deadlines.ts';
import { messageOf } from '../../lib/errors.ts';

/** An endpoint for machines. It answers GET and HEAD alike. */
type HealthEndpoint = () => Promise<HealthResponse>;

type HealthResponse = { readonly status: number; readonly type: string; readonly body: string };

export type HealthEndpoints = {
  /** What this process says of itself, for its readiness or for that of a machine with others. */
  report(): Promise<HealthReport>;
  /** The endpoints by their paths. */
  readonly byPath: ReadonlyMap<string, HealthEndpoint>;
  /** Makes the gateway not ready, for good. */
  markNotReady(): void;
  /** Whether readiness was polled within the last minute, so that a load balancer would notice a change. */
  isPolled(): boolean;
};

/** What a reason may name. The table of docs/operations.md#readiness has the same. */
export const READINESS_PARTS = [
  'stopping',
  'deliveries',
  'delivery secret',
  'identity',
  'workers',
  'upstream',
  'index',
  'explorers',
] as const;

export type ReadinessPart = (typeof READINESS_PARTS)[number];

/** Why the gateway is not ready, or degraded. */
export type Reason = { readonly part: ReadinessPart; readonly message: string };

export type HealthReport = {
  /** Why it is not ready. */
  readonly failed: readonly Reason[];
  /** Why it is degraded. */
  readonly degraded: readonly Reason[];
  /** How far the embedded index is with each chain; undefined in a gateway without an index. */
  readonly chains?: readonly object[] | undefined;
  /** What its explorers have left and do; undefined in a gateway without any. */
  readonly explorers?: readonly ExplorerReport[] | undefined;
};

/** What is known of an explorer that chains are read from. */
export type ExplorerReport = {
  /** `hosted`, or the first chain that it answers for. */
  readonly explorer: string;
  readonly requests: { readonly waiting: number; readonly underWay: number };
  /** Undefined for an explorer without credits; `left` is null while it is not known. */
  readonly credits?: { readonly left: number | null; readonly resetAt: string } | undefined;
  /** Why nothing is sent now, and until when (ISO 8601). */
  readonly pause?: { readonly reason: string; readonly until: string } | undefined;
  /** Why it can't be read, in sentences. */
  readonly problem?: string | undefined;
  /** Of each operation that was asked. */
  readonly operations: readonly {
    readonly operation: string;
    readonly requests: number;
    readonly credits?: number | undefined;
  }[];
};

/** What an embedded index says: why chains are not followed, how far each is, and what its explorers do. */
type IndexHealth = {
  readonly problems: readonly string[];
  readonly chains: readonly object[];
  readonly explorers?: readonly ExplorerReport[] | undefined;
};

/** Something that a gateway must be able to do. */
type ReadinessCheck = {
  readonly part: ReadinessPart;
  /** Rejects when it fails. Anyone who asks sees the message, so it must contain no secret. */
  readonly run: () => Promise<unknown>;
};

type Parts = {
  /** Each of them that fails makes the gateway not ready. One that is pending is not run a second time. */
  readonly checks: readonly ReadinessCheck[];
  /** What fails here and would at every other gateway, so that the gateway stays ready. */
  readonly degradations: () => readonly Reason[];
  /** Asks the embedded index. Rejects when it does not answer. Left out in a gateway without an index. */
  readonly index?: (() => Promise<IndexHealth>) | undefined;
  readonly metrics: () => Promise<{ readonly type: string; readonly body: string }>;
  /** The report of all processes that listen on the port; null where this one does alone. */
  readonly reportOfAll?: (() => Promise<HealthReport>) | null | undefined;
  readonly now?: Clock | undefined;
};

/** A check that takes longer has failed. Balancers wait a little longer for the answer. */
const CHECK_TIMEOUT_MS = 2000;
/** How long a result is shown before the check runs again, however often readiness is polled. */
const CHECK_EVERY_MS = 2000;
const POLLED_WITHIN_MS = 60_000;

const STOPPING: HealthReport = {
  failed: [{ part: 'stopping', message: 'the gateway is shutting down' }],
  degraded: [],
};

/**
 * Creates the liveness, readiness and metrics endpoints. A gateway is not ready while it stops or one of the checks fails.
 * While something has failed that every other gateway lacks as well, such as upstream, it is ready and `degraded`: what does
 * not need it is served all the same.
 */
export const createHealthEndpoints = ({
  checks,
  degradations,
  index,
  metrics,
  reportOfAll = null,
  now = monotonicClock,
}: Parts): HealthEndpoints => {
  const failures = checks.map((check) => rememberFailure(check, now));
  let stopping = false;
  let polledAt: number | null = null;

  const report = async (): Promise<HealthReport> => {
    polledAt = now();
    // A stop is told at once: a load balancer has little time to notice it.
    if (stopping) return STOPPING;
    const [failed, indexed] = await Promise.all([
      Promise.all(failures.map((failure) => failure())),
      index?.().catch(silence),
    ]);
    if (stopping) return STOPPING;
    const problems = indexed?.problems.map((message) => ({ part: 'index', message }) as const) ?? [];
    const refused = indexed?.explorers?.flatMap(({ problem }) =>
      problem === undefined ? [] : [{ part: 'explorers', message: problem } as const],
    );
    return {
      failed: failed.filter((one) => one !== null),
      degraded: [...degradations(), ...problems, ...(refused ?? [])],
      chains: indexed?.chains,
      explorers: indexed?.explorers,
    };
  };
  const ready = async (): Promise<HealthResponse> => {
    const { failed, degraded, ...rest } = await (stopping ? report : (reportOfAll ?? report))();
    if (failed.length > 0) return json(503, { status: 'not ready', reasons: failed, ...rest });
    return degraded.length > 0
      ? json(200, { status: 'degraded', reasons: degraded, ...rest })
      : json(200, { status: 'ready', ...rest });
  };

  return {
    report,
    byPath: new Map<string, HealthEndpoint>([
      ['/health/live', async () => json(200, { status: 'live' })],
      ['/health/ready', ready],
      ['/metrics', async () => ({ status: 200, ...(await metrics()) })],
    ]),
    markNotReady() {
      stopping = true;
    },
    isPolled: () => polledAt !== null && now() - polledAt < POLLED_WITHIN_MS,
  };
};

const silence = (error: unknown): IndexHealth => ({
  problems: [`the index does not answer: ${messageOf(error)}`],
  chains: [],
});

/** Returns a function that resolves with why the check has failed, or null: by a run of the last two seconds. */
const rememberFailure = ({ part, run }: ReadinessCheck, now: Clock): (() => Promise<Reason | null>) => {
  let running: Promise<void> | null = null;
  let failure: Reason | null = null;
  let checkedAt = Number.NEGATIVE_INFINITY;
  const settle = (message: string | null): void => {
    failure = message === null ? null : { part, message };
    checkedAt = now();
  };
  const start = async (): Promise<void> => {
    try {
      await run();
      settle(null);
    } catch (error) {
      settle(messageOf(error));
    } finally {
      running = null;
    }
  };
  return async () => {
    if (now() - checkedAt < CHECK_EVERY_MS) return failure;
    running ??= start();
    if ((await raceWithTimeout(running, CHECK_TIMEOUT_MS, null)) === 'timeout')
      settle(`the check has not ended within ${CHECK_TIMEOUT_MS} ms`);
    return failure;
  };
};

/** Answers a request with the endpoint's response; any method except GET and HEAD with 405. */
export const answerProbe = async (
  { method }: IncomingMessage,
  response: ServerResponse,
  endpoint: HealthEndpoint,
): Promise<void> => {
  if (method !== 'GET' && method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD', 'content-length': 0 }).end();
    return;
  }
  const { status, type, body } = await endpoint();
  const headers = {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  };
  response.writeHead(status, headers).end(method === 'HEAD' ? undefined : body);
};

const json = (status: number, body: object): HealthResponse => ({
  status,
  type: 'application/json',
  body: JSON.stringify(body),
});
