import cluster from 'node:cluster';
import { sleep } from '../lib/deadlines.ts';
import type { Log } from '../lib/log.ts';
import { settlesWithin } from '../lib/tasks.ts';
import { type Launched, launchWorker, type WorkerEnd } from './launch.ts';
import { healthOf, type MetricsSum, metricsOf } from './machine.ts';

type Options = {
  readonly count: number;
  readonly log: Log;
  readonly metrics: MetricsSum;
};

export type Primary = {
  /** The address that all workers listen on. */
  readonly url: string;
  /** Lets each worker reload: at once, or when it has started. */
  reload(): void;
  /**
   * Sends the signal to all workers, and starts no others. Resolves once they have ended, which they must within `ms`
   * milliseconds; after that it kills them. Rejects if it had to, or one has failed.
   */
  stop(signal: 'SIGTERM' | 'SIGINT', ms: number): Promise<void>;
};

/** A worker has not started. */
export class WorkerStartError extends Error {
  readonly end: WorkerEnd;

  constructor(end: WorkerEnd) {
    super(
      end.failure?.stack ?? `a worker ended before it listened: ${end.signal ?? `exit code ${end.code}`}`,
    );
    this.end = end;
  }
}

/**
 * Starts `count` workers that listen on one port, and replaces each that ends. The first one starts alone: it finds out
 * whether anything is wrong with the configuration, and which port they share. Rejects with WorkerStartError unless all start.
 */
export const startPrimary = async ({ count, log, metrics }: Options): Promise<Primary> => {
  // Metrics have values, such as NaN, that JSON can't express.
  cluster.setupPrimary({ serialization: 'advanced' });
  const stopping = new AbortController();
  const workers = new Map<number, Launched>();
  let port: number | null = null;
  let exits = 0;

  const running = () => [...workers.values()].filter(({ isRunning }) => isRunning());
  const launch = (number: number): Launched => {
    const worker = launchWorker(number, {
      place: async () => ({ number, count, port }),
      health: () => healthOf(running(), count),
      metrics: () => metricsOf(running(), metrics, exits),
    });
    workers.set(number, worker);
    return worker;
  };

  /** Replaces the worker whenever it ends, and resolves with how the last one has ended once the primary stops. */
  const keep = async (first: Launched): Promise<WorkerEnd> => {
    const restarts = new Restarts(log, first.number);
    for (let worker = first; ; worker = launch(worker.number)) {
      const url = await worker.started;
      if (url !== null) restarts.started(worker);
      const end = await worker.ended;
      metrics.keep(worker.lastMetrics);
      if (stopping.signal.aborted) return end;
      exits += 1;
      await sleep(restarts.pauseAfter(worker, end), stopping.signal);
      if (stopping.signal.aborted) return end;
    }
  };

  const urlOf = async (worker: Launched): Promise<string> => {
    const url = await worker.started;
    if (url === null) throw new WorkerStartError(await worker.ended);
    return url;
  };
  const first = launch(1);
  const url = await urlOf(first);
  port = Number(/:(\d+)$/.exec(url)?.[1]);
  const others = Array.from({ length: count - 1 }, (_, index) => launch(index + 2));
  await Promise.all(others.map(urlOf));
  const ends = Promise.all([first, ...others].map(keep));
  const signalAll = (signal: NodeJS.Signals) => {
    for (const worker of workers.values()) worker.signal(signal);
  };

  return {
    url,
    reload() {
      for (const worker of workers.values())
        void worker.started.then((listens) => listens !== null && worker.signal('SIGHUP'));
    },
    async stop(signal, ms) {
      stopping.abort();
      signalAll(signal);
      if (!(await settlesWithin([ends], ms))) signalAll('SIGKILL');
      const failed = (await ends).find(({ code }) => code !== 0);
      if (failed) throw new Error(`a worker did not stop: ${failed.signal ?? `exit code ${failed.code}`}`);
    },
  };
};

/** A worker that ends this long after its start is replaced at once. One that ends sooner must not make the machine spin. */
const SETTLED_MS = 60_000;
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;

/** When the worker of one number is started again, and what is logged of that: a problem that stays has one line. */
class Restarts {
  readonly #log: Log;
  readonly #worker: number;
  /** Its ends that came too soon, one after the other. */
  #early = 0;
  #startedAt: number | null = null;
  #problem: string | null = null;

  constructor(log: Log, worker: number) {
    this.#log = log;
    this.#worker = worker;
  }

  started({ pid }: Launched): void {
    this.#startedAt = performance.now();
    if (this.#early > 0) this.#log.info('worker started', { worker: this.#worker, pid });
    this.#problem = null;
  }

  /** The milliseconds until the next one may start. */
  pauseAfter({ pid }: Launched, { code, signal, failure }: WorkerEnd): number {
    const startedAt = this.#startedAt;
    this.#startedAt = null;
    const hasSettled = startedAt !== null && performance.now() - startedAt > SETTLED_MS;
    this.#early = hasSettled ? 1 : this.#early + 1;
    const restartInMs =
      this.#early === 1 ? 0 : Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#early - 2));
    const ended = { worker: this.#worker, pid, code, signal, restartInMs };
    const problem = failure?.problems?.join() ?? failure?.stack ?? '';
    if (startedAt !== null) this.#log.error('worker ended', ended);
    else if (problem !== this.#problem) {
      this.#problem = problem;
      const { problems = null, stack } = failure ?? {};
      this.#log.error('worker cannot start', { ...ended, ...(problems ? { problems } : { error: stack }) });
    }
    return restartInMs;
  }
}
