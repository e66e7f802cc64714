import type { IncomingMessage, ServerResponse } from 'node:http';

/** What machines ask of the gateway: each answers GET and HEAD alike. */
export type HealthEndpoint = () => Promise<HealthAnswer>;

type HealthAnswer = { readonly status: number; readonly type: string; readonly body: string };

export type HealthEndpoints = {
  /** By path. */
  readonly byPath: ReadonlyMap<string, HealthEndpoint>;
  /** Not ready any more, for good. */
  retire(): void;
  /** Whether somebody has asked lately whether it is ready, and so would notice when it no longer is. */
  isPolled(): boolean;
};

type Parts = {
  /** Whether the log of deliveries can be read; rejects when it can't. */
  readonly readLog: () => Promise<unknown>;
  readonly isUpstreamDown: () => boolean;
  readonly metrics: () => Promise<{ readonly type: string; readonly body: string }>;
  readonly now?: (() => number) | undefined;
};

const LOG_ANSWERS_WITHIN_MS = 1000;
const LATELY_MS = 60_000;

/**
 * Not ready is a gateway that another could stand in for: one that stops, or that can't read its log. A service that is
 * down is no reason: it is so for every gateway, and kept pages and deliveries are served all the same. It is told as
 * degraded.
 */
export const createHealthEndpoints = ({
  readLog,
  isUpstreamDown,
  metrics,
  now = () => performance.now(),
}: Parts): HealthEndpoints => {
  let stopping = false;
  let polledAt: number | null = null;

  const ready = async (): Promise<HealthAnswer> => {
    polledAt = now();
    const deliveries = await withinMs(LOG_ANSWERS_WITHIN_MS, readLog());
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
    retire() {
      stopping = true;
    },
    isPolled: () => polledAt !== null && now() - polledAt < LATELY_MS,
  };
};

export const answerProbe = async (
  { method }: IncomingMessage,
  response: ServerResponse,
  probe: HealthEndpoint,
): Promise<void> => {
  if (method !== 'GET' && method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD', 'content-length': 0 }).end();
    return;
  }
  const { status, type, body } = await probe();
  const headers = {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  };
  response.writeHead(status, headers).end(method === 'HEAD' ? undefined : body);
};

const json = (status: number, body: object): HealthAnswer => ({
  status,
  type: 'application/json',
  body: JSON.stringify(body),
});

/** Whether `task` succeeds, and in time. */
const withinMs = async (ms: number, task: Promise<unknown>): Promise<boolean> => {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(late.resolve, ms, false);
  const done = task.then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([done, late.promise]);
  } finally {
    clearTimeout(timer);
  }
};
