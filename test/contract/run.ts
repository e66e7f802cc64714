import { createChains, supportedChains } from './chains.ts';
import { type Listener, openListener } from './deliveries.ts';
import { Differs, type Finding, Skipped } from './finding.ts';
import { bodyOf, type Judged, type Point, summary } from './point.ts';
import { POINTS } from './registry.ts';
import { createService, type Service, type ServiceOptions } from './service.ts';
import { createWallets, transactions, UNUSED, type WalletsOptions } from './wallets.ts';
import { createOwnWebhooks } from './webhooks.ts';

/** What became of a point. */
export type Result = {
  readonly point: Pick<Point, 'operation' | 'expects' | 'source'>;
  readonly status: 'ok' | 'differs' | 'note' | 'skipped';
  readonly findings: readonly Finding[];
  /** Why it was skipped; empty otherwise. */
  readonly why: string;
};

export type RunOptions = ServiceOptions &
  WalletsOptions & {
    /** Whether it may create webhooks, which it deletes again. */
    readonly webhooks: boolean;
    /** The public address at which the service reaches this machine; null when there is none. */
    readonly listenUrl: string | null;
    readonly listenPort: number;
    /** Which points are judged. Default: all. */
    readonly only?: (point: Point) => boolean;
  };

export type Run = {
  readonly results: AsyncIterable<Result>;
  readonly spent: Service['spent'];
};

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

const judgePoint = async (point: Point, judged: Judged, signal: AbortSignal): Promise<Result> => {
  const ended = (status: Result['status'], findings: readonly Finding[] = [], why = ''): Result => ({
    point,
    status,
    findings,
    why,
  });
  try {
    const findings = await point.check(judged);
    if (findings.some(({ kind }) => kind === 'differs')) return ended('differs', findings);
    return ended(findings.length === 0 ? 'ok' : 'note', findings);
  } catch (problem) {
    signal.throwIfAborted();
    if (problem instanceof Skipped) return ended('skipped', [], problem.message);
    if (problem instanceof Differs) return ended('differs', [problem.finding]);
    throw problem;
  }
};

/** Deletes what the run has made, also when it was interrupted. */
const tidy = async (judged: Judged, listener: Listener | null): Promise<void> => {
  const kept = (await judged.own?.removeAll()) ?? [];
  await listener?.close();
  if (kept.length > 0)
    throw new Error(`Expected to delete all webhooks of this run, got refusals for ${kept.join(', ')}.`);
};

/**
 * Judges a service point by point, one request at a time. When the iteration ends, or is ended early, it has deleted
 * what it made.
 * @throws when the service can't be reached, or a webhook could not be deleted.
 */
export const startRun = (options: RunOptions): Run => {
  const service = createService(options);
  return { results: judgeAll(service, options), spent: service.spent };
};

async function* judgeAll(service: Service, options: RunOptions): AsyncGenerator<Result> {
  const { signal, webhooks, listenUrl, listenPort, only = () => true } = options;
  // Without its chains there is nothing to judge by, and with a wrong key nothing but refusals.
  bodyOf(await service.ask(supportedChains));
  const keyed = await service.ask(transactions, { path: { address: UNUSED }, query: { limit: '1' } });
  if (keyed.status === 401) throw new Error(`Expected the service to take the key, got ${summary(keyed)}.`);
  const chains = createChains(service);
  const wallets = createWallets(service, chains, options);
  const isReachable = listenUrl !== null || LOOPBACK.test(new URL(service.url).hostname);
  const listener =
    webhooks && isReachable ? await openListener({ publicUrl: listenUrl, port: listenPort }) : null;
  const own = webhooks ? createOwnWebhooks({ service, wallets, listener }) : null;
  const judged: Judged = { service, chains, wallets, own };
  try {
    for (const point of POINTS.filter(only)) {
      signal.throwIfAborted();
      yield await judgePoint(point, judged, signal);
    }
  } finally {
    await tidy(judged, listener);
  }
}
