import { parentPort, workerData } from 'node:worker_threads';
import type { PostWithin } from '../dispatch/sender.ts';
import type { RecordStore, Swapped } from '../explorer/client/shared-limits.ts';
import type { AnswerPart, Arrived } from '../http/http.ts';
import type { ServiceConfig } from './config.ts';
import type { IndexFigures } from './figures.ts';
import { startIndexed } from './indexer.ts';

/** The service over an index, in a thread of the gateway's process: see `startIndexThread` of the gateway. */

/** A delivery to a url of the gateway. */
export type Posted = {
  readonly id: number;
  /** The path below `/deliveries`, with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** What the thread is told, or asked. */
export type ToIndex =
  /** The url under which the gateway takes deliveries, with a slash at its end. */
  | { readonly follow: string }
  | 'figures'
  | 'stop'
  | { readonly id: number; readonly asked: Arrived }
  /** The client of this request waits no longer. */
  | { readonly left: number }
  /** The reply to a swap. */
  | { readonly id: number; readonly swapped: Swapped | null }
  /** The statuses of posts; null while the gateway does not listen. */
  | { readonly answered: readonly { readonly id: number; readonly status: number | null }[] };

/** What the thread tells, or asks. */
export type FromIndex =
  /** It has started. */
  | 'ready'
  | { readonly id: number; readonly part: AnswerPart }
  | { readonly figures: IndexFigures }
  /** Why it can't say its figures. */
  | { readonly failed: string }
  | { readonly log: string; readonly details: Readonly<Record<string, unknown>> }
  | { readonly id: number; readonly swap: Parameters<RecordStore['swap']> }
  | { readonly posts: readonly Posted[] };

/** The store of records, which the gateway has. */
const recordsOver = (tell: (message: FromIndex) => void) => {
  const asked = new Map<number, (reply: Swapped | null) => void>();
  let count = 0;
  const store: RecordStore = {
    swap(...swap) {
      count += 1;
      const { promise, resolve } = Promise.withResolvers<Swapped | null>();
      asked.set(count, resolve);
      tell({ id: count, swap });
      return promise;
    },
  };
  return {
    store,
    replied(id: number, reply: Swapped | null): void {
      asked.get(id)?.(reply);
      asked.delete(id);
    },
  };
};

/** Posts what goes to the gateway's own urls: what is posted in one turn of the event loop in one message. */
const postsOver = (tell: (message: FromIndex) => void) => {
  const open = new Map<number, (status: number | null) => void>();
  let own: string | null = null;
  let posts: Posted[] = [];
  let count = 0;
  const flush = (): void => {
    tell({ posts });
    posts = [];
  };
  const post: PostWithin = (text, headers, body) => {
    if (own === null) return null;
    const url = new URL(text);
    url.hash = '';
    if (!url.href.startsWith(own)) return null;
    count += 1;
    const { promise, resolve } = Promise.withResolvers<number | null>();
    open.set(count, resolve);
    if (posts.length === 0) queueMicrotask(flush);
    posts.push({ id: count, path: url.href.slice(own.length), headers, body });
    return promise;
  };
  return {
    post,
    begin(url: string): void {
      own = url;
    },
    answered(statuses: Extract<ToIndex, { answered: unknown }>['answered']): void {
      for (const { id, status } of statuses) {
        open.get(id)?.(status);
        open.delete(id);
      }
    },
  };
};

const run = async (port: NonNullable<typeof parentPort>): Promise<void> => {
  const tell = (message: FromIndex) => port.postMessage(message);
  const leave = new Map<number, () => void>();
  /** The bytes move to the gateway's thread, and are not copied. */
  const tellPart = (id: number, part: AnswerPart): void => {
    if (part.end !== undefined) leave.delete(id);
    port.postMessage({ id, part } satisfies FromIndex, part.chunk === undefined ? [] : [part.chunk.buffer]);
  };
  const config: ServiceConfig = workerData;
  const records = recordsOver(tell);
  const posts = postsOver(tell);
  const service = await startIndexed({
    ...config,
    records: config.isOneOfSeveral === true ? records.store : undefined,
    postWithin: posts.post,
    log: (log, details) => tell({ log, details }),
  });
  const tellFigures = (): void => {
    try {
      tell({ figures: service.figures() });
    } catch (problem) {
      tell({ failed: String(problem) });
    }
  };
  port.on('message', (message: ToIndex) => {
    if (message === 'figures') tellFigures();
    else if (message === 'stop') void service.stop().then(() => port.close());
    else if ('follow' in message) {
      posts.begin(message.follow);
      service.follow();
    } else if ('answered' in message) posts.answered(message.answered);
    else if ('asked' in message)
      leave.set(
        message.id,
        service.ask(message.asked, (part) => tellPart(message.id, part)),
      );
    else if ('left' in message) {
      leave.get(message.left)?.();
      leave.delete(message.left);
    } else records.replied(message.id, message.swapped);
  });
  tell('ready');
};

if (parentPort) await run(parentPort);
