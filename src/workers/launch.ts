import cluster from 'node:cluster';
import { once } from 'node:events';
import { type Answers, type Channel, openChannel } from './channel.ts';
import type { MetricSnapshot, OfPrimary, OfWorkers, StartFailure } from './questions.ts';

export type WorkerEnd = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it could not start, where it has said so. */
  readonly failure: StartFailure | null;
};

/** A process of a worker. */
export type Launched = {
  readonly number: number;
  readonly pid: number | undefined;
  readonly ask: Channel<OfWorkers>['ask'];
  /** Resolves with its URL once it listens; with null if it has ended before. */
  readonly started: Promise<string | null>;
  readonly ended: Promise<WorkerEnd>;
  /** Whether it listens. */
  isRunning(): boolean;
  /** Those of the last scrape. */
  lastMetrics: MetricSnapshot;
  signal(signal: NodeJS.Signals): void;
};

/** Starts the process of the worker with this number. `answers` has what the primary answers all workers alike. */
export const launchWorker = (
  number: number,
  answers: Omit<Answers<OfPrimary>, 'listening' | 'failed'>,
): Launched => {
  const worker = cluster.fork();
  const started = Promise.withResolvers<string | null>();
  let isRunning = false;
  let failure: StartFailure | null = null;
  const channel = openChannel<OfWorkers, OfPrimary>(worker, {
    ...answers,
    async listening(url) {
      isRunning = true;
      started.resolve(url);
    },
    async failed(given) {
      failure = given;
    },
  });
  const ended = once(worker, 'exit').then(([code, signal]): WorkerEnd => {
    isRunning = false;
    started.resolve(null);
    return { code, signal, failure };
  });
  return {
    number,
    pid: worker.process.pid,
    ask: channel.ask,
    started: started.promise,
    ended,
    isRunning: () => isRunning,
    lastMetrics: [],
    signal: (signal) => void worker.process.kill(signal),
  };
};
