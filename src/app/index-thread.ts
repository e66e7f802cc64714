import { Worker } from 'node:worker_threads';
import { CLIENT_HEADER } from '../backend/asking-client.ts';
import type { RecordStore } from '../backend/explorer/client/shared-limits.ts';
import type { AnswerPart, Ask } from '../backend/http/http.ts';
import type { ServiceConfig } from '../backend/indexer/config.ts';
import type { IndexFigures } from '../backend/indexer/figures.ts';
import type { FromIndex, Posted, ToIndex } from '../backend/indexer/index-thread.ts';
import { ConfigError } from '../config/config.ts';
import type { ShutdownDeadline } from '../lib/deadlines.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { HttpServer } from '../server/http/server.ts';

/** How the gateway takes the deliveries to its own URLs, which come without a socket. */
type OwnDeliveries = {
  /** PUBLIC_URL, which may have a path: where the service believes that the gateway is. */
  readonly url: string;
  readonly answer: HttpServer['answerWithin'];
};

/** The service over an index of real chains, in a thread of its own. */
export type IndexThread = {
  /** Requests of a time without a thread are unheard. */
  readonly ask: Ask;
  readonly apiKey: string;
  /** The header that names the client of a request. */
  readonly clientHeader: string;
  /** Begins to follow the chains and to deliver. It answers from what is indexed before as well. */
  follow(gateway: OwnDeliveries): void;
  /** Its figures, at most a second old. Rejects when it does not answer in time, for example during a restart. */
  figures(): Promise<IndexFigures>;
  /** Of them, what readiness says. */
  health(): Promise<IndexFigures['health']>;
  stop(deadline: ShutdownDeadline): Promise<void>;
};

const ENTRY = new URL('../backend/indexer/index-thread.ts', import.meta.url);

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/** Less than a balancer waits. The thread answers nothing while it writes a batch of blocks. */
const FIGURES_MS = 1500;
/** Readiness may be polled several times a second. */
const FIGURES_EVERY_MS = 1000;
/** A thread that lived for so long has started well: the pauses before further ones begin anew. */
const STEADY_MS = 60_000;

/**
 * Starts the thread. Resolves once it answers. A thread that ends is started again, after a pause that doubles. Rejects with
 * ConfigError if the first one can't start, as with a folder that it can't write. `records` are those that it has together with
 * the services of other gateways.
 */
export const startIndexThread = async (
  config: ServiceConfig,
  log: Log,
  records: RecordStore | null = null,
): Promise<IndexThread> => {
  let gateway: OwnDeliveries | null = null;
  let isStopping = false;
  let pauseMs = FIRST_PAUSE_MS;
  let restart: NodeJS.Timeout | undefined;
  let worker: Worker | null = null;
  /** Whether it answers. */
  let isReady = false;

  const write = indexLog(log, 'index: ');
  const onMessage = (message: FromIndex, onReady: () => void): void => {
    if (message === 'ready') onReady();
    else if ('part' in message) answers.take(message.id, message.part);
    else if ('figures' in message) figures.answered(message.figures);
    else if ('failed' in message) figures.fail(message.failed);
    else if ('posts' in message) answerPosts(message.posts);
    else if ('swap' in message) void swap(message);
    else write(message.log, message.details);
  };

  /** Resolves once the thread answers. Rejects if it ends before. */
  const run = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const started = performance.now();
      let cause: unknown = null;
      const thread = new Worker(ENTRY, { workerData: config });
      worker = thread;
      const onReady = () => {
        isReady = true;
        if (gateway !== null) follow(gateway);
        resolve();
      };
      thread.on('message', (message: FromIndex) => onMessage(message, onReady));
      thread.on('error', (error) => {
        cause = error;
      });
      thread.on('exit', () => {
        const wasReady = isReady;
        isReady = false;
        worker = null;
        figures.fail(STARTING);
        answers.break();
        const problem = cause === null ? 'it ended' : messageOf(cause);
        if (performance.now() - started > STEADY_MS) pauseMs = FIRST_PAUSE_MS;
        if (!wasReady) reject(new Error(problem, { cause }));
        else if (!isStopping) startAgain(problem);
        else if (cause !== null) log.error('index: it did not stop in order', { problem });
      });
    });

  const startAgain = (problem: string): void => {
    log.error('index: it stopped and starts again', { problem, inMs: pauseMs });
    restart = setTimeout(() => {
      run().catch((error: unknown) => {
        if (!isStopping) startAgain(messageOf(error));
      });
    }, pauseMs);
    pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
  };

  /** A thread that has been started again meanwhile knows nothing of its number. */
  const swap = async ({ id, swap }: Extract<FromIndex, { readonly swap: unknown }>): Promise<void> => {
    const asking = worker;
    const swapped = (await records?.swap(...swap)) ?? null;
    if (worker === asking) tell({ id, swapped });
  };

  const follow = ({ url }: OwnDeliveries): void => tell({ follow: deliveriesUnder(url) });

  /** Those that end in one turn of the event loop, as after one commit of the log, are told together. */
  const answerPosts = (posts: readonly Posted[]): void => {
    const posting = worker;
    let answered: { readonly id: number; readonly status: number | null }[] = [];
    const flush = () => {
      if (worker === posting) tell({ answered });
      answered = [];
    };
    for (const { id, path, ...post } of posts)
      gateway?.answer({ method: 'POST', target: `/deliveries/${path}`, ...post }, (status) => {
        if (answered.length === 0) setImmediate(flush);
        answered.push({ id, status });
      });
  };

  const tell = (message: ToIndex): void => worker?.postMessage(message);
  const answers = createAnswers((message) => {
    if (isReady) tell(message);
    return isReady;
  });
  const figures = createFigures(() => {
    tell('figures');
    return worker !== null;
  });

  await run().catch((error: unknown) => {
    throw startProblem(error);
  });
  return {
    ask: answers.ask,
    apiKey: config.apiKey,
    clientHeader: CLIENT_HEADER,
    follow(own) {
      gateway = own;
      follow(own);
    },
    figures: figures.read,
    health: async () => (await figures.read()).health,
    async stop(deadline) {
      isStopping = true;
      clearTimeout(restart);
      const thread = worker;
      if (thread === null) return;
      // An error on the way is logged, and does not keep the gateway from stopping.
      const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
      const overdue = setTimeout(() => void thread.terminate(), deadline.closeMs());
      tell('stop');
      await ended;
      clearTimeout(overdue);
    },
  };
};

/** What all delivery URLs of the gateway begin with. */
const deliveriesUnder = (url: string): string => {
  const { href } = new URL(url);
  return `${href.replace(/\/+$/, '')}/deliveries/`;
};

/** The requests that the thread is answering. `post` returns whether it hears. */
const createAnswers = (post: (message: ToIndex) => boolean) => {
  const open = new Map<number, (part: AnswerPart) => void>();
  let count = 0;
  const ask: Ask = (asked, tell) => {
    count += 1;
    const id = count;
    if (post({ id, asked })) open.set(id, tell);
    else setImmediate(tell, { end: 'unheard' });
    return () => void (open.delete(id) && post({ left: id }));
  };
  const take = (id: number, part: AnswerPart): void => {
    const tell = open.get(id);
    if (part.end !== undefined) open.delete(id);
    tell?.(part);
  };
  return {
    ask,
    take,
    /** The thread has ended. */
    break(): void {
      for (const id of [...open.keys()]) take(id, { end: 'broken' });
    },
  };
};

const STARTING = 'it has ended, and is started again';

/** Asks the thread for its figures. `ask` returns whether there is a thread. */
const createFigures = (ask: () => boolean) => {
  let waiting: PromiseWithResolvers<IndexFigures> | null = null;
  let last: { readonly figures: IndexFigures; readonly at: number } | null = null;
  /** The thread can't say them now. */
  const fail = (problem: string): void => {
    last = null;
    waiting?.reject(new Error(problem));
    waiting = null;
  };
  return {
    fail,
    answered(figures: IndexFigures): void {
      last = { figures, at: performance.now() };
      waiting?.resolve(figures);
      waiting = null;
    },
    async read(): Promise<IndexFigures> {
      if (last !== null && performance.now() - last.at < FIGURES_EVERY_MS) return last.figures;
      if (waiting !== null) return waiting.promise;
      waiting = Promise.withResolvers<IndexFigures>();
      const { promise } = waiting;
      const overdue = setTimeout(() => fail(`no answer in ${FIGURES_MS} ms`), FIGURES_MS);
      if (!ask()) fail(STARTING);
      return promise.finally(() => clearTimeout(overdue));
    },
  };
};

/** A line whose details have a problem is a warning. */
export const indexLog =
  (log: Log, prefix = '') =>
  (message: string, details: Readonly<Record<string, unknown>>): void =>
    log['problem' in details ? 'warn' : 'info'](prefix + message, details);

/** Why an index does not start, as a problem of the variable that the error names, or of CHAINS. */
export const startProblem = (error: unknown): ConfigError => {
  const message = messageOf(error);
  return new ConfigError([
    /^[A-Z_]+: /.test(message) ? message : `CHAINS: the index can't start: ${message}`,
  ]);
};
