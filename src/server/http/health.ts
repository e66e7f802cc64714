import type { IncomingMessage, ServerResponse } from 'node:http';

/** An endpoint for machines. It answers GET and HEAD alike. */
type HealthEndpoint = () => Promise<HealthResponse>;

type HealthResponse = { readonly status: number; readonly type: string; readonly body: string };

export type HealthEndpoints = {
  /** The endpoints by their paths. */
  readonly byPath: ReadonlyMap<string, HealthEndpoint>;
  /** Makes the gateway not ready, for good. */
  markNotReady(): void;
  /** Whether readiness was polled within the last minute, so that a load balancer would notice a change. */
  isPolled(): boolean;
};

type Parts = {
  /** Rejects when the delivery log can't be read. */
  readonly readLog: () => Promise<unknown>;
  readonly isUpstreamDown: () => boolean;
  readonly metrics: () => Promise<{ readonly type: string; readonly body: string }>;
  readonly now?: (() => number) | undefined;
};

const LOG_TIMEOUT_MS = 1000;
const POLLED_WITHIN_MS = 60_000;

/**
 * Creates the liveness, readiness and metrics endpoints. A gateway is not ready while it stops or can't read its log,
 * because another gateway could serve instead. While upstream is down it is ready, and reports `degraded`: every other
 * gateway has the same upstream, and cached pages and deliveries are served all the same.
 */
export const createHealthEndpoints = ({
  readLog,
  isUpstreamDown,
  metrics,
  now = () => performance.now(),
}: Parts): HealthEndpoints => {
  let stopping = false;
  let polledAt: number | null = null;

  const ready = async (): Promise<HealthResponse> => {
    polledAt = now();
    // A stop is told at once: a load balancer has two seconds to notice it.
    const deliveries = stopping || (await succeedsWithin(LOG_TIMEOUT_MS, readLog()));
    const parts = [...(stopping ? ['stopping'] : []), ...(deliveries ? [] : ['deliveries'])];
    if (parts.length > 0) return json(503, { status: 'not ready', parts });
    return json(200, { status: 'ready', ...(isUpstreamDown() && { degraded: ['upstream'] }) });
  };

  return {
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

/** Resolves to whether `task` resolves within `ms` milliseconds. */
const succeedsWithin = async (ms: number, task: Promise<unknown>): Promise<boolean> => {
  const timeout = Promise.withResolvers<boolean>();
  const timer = setTimeout(timeout.resolve, ms, false);
  const done = task.then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([done, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
};
