import { ErrorReply } from '@redis/client';
import { messageOf } from '../lib/errors.ts';
import type {
  RedisArgument,
  RedisClient,
  RedisClientOptions,
  RedisNode,
  RedisReply,
  RedisTimes,
} from './client.ts';
import { createClusterClient, createSingleClient, RedisReplyError, RedisUnavailableError } from './client.ts';
import { SentinelClient } from './sentinel.ts';
import { parseSentinelUrl } from './sentinel-url.ts';

const TIMES: RedisTimes = { commandMs: 5000, connectMs: 5000, silentMs: 10_000, pingMs: 3000 };

/** Reports commands and connections to metrics and the logger. */
export type RedisObserver = {
  /** A command has settled: with a reply, refused by Redis, or without an answer. */
  settled?(outcome: 'replied' | 'refused' | 'unavailable', durationMs: number): void;
  /** The first connection is lost, after all were open. */
  lost?(error: string): void;
  /** All connections are open again. */
  restored?(): void;
};

type Options = {
  /**
   * `redis://` or `rediss://`, with user, password, port and database as needed; several are nodes of one Cluster. Or a URL
   * of Sentinels, see `parseSentinelUrl`.
   */
  readonly urls: readonly string[];
  readonly times?: Partial<RedisTimes> | undefined;
  readonly observer?: RedisObserver | undefined;
};

/** What Redis has replied, and how many replicas have it. */
export type Replicated = { readonly reply: RedisReply; readonly replicas: number };

/**
 * Opens a connection to one Redis, to the primary that Sentinels name, or to a Cluster: to that also by the URL of one of
 * its nodes. Rejects with RedisUnavailableError when that fails at the first attempt. From then on it reconnects whenever it
 * is lost.
 */
export const connectRedis = async ({ urls, times, observer }: Options): Promise<RedisConnection> => {
  const parts = { urls, times: { ...TIMES, ...times }, observer };
  const connection = new RedisConnection({ ...parts, isCluster: urls.length > 1 });
  await connection.open();
  if (connection.isCluster || !(await connection.prepare(() => isClusterNode(connection)))) return connection;
  connection.close();
  const cluster = new RedisConnection({ ...parts, isCluster: true });
  await cluster.open();
  return cluster;
};

const isClusterNode = async (connection: RedisConnection): Promise<boolean> => {
  try {
    return String(await connection.send(null, ['INFO', 'cluster'])).includes('cluster_enabled:1');
  } catch (error) {
    // The user may not ask.
    if (error instanceof RedisReplyError) return false;
    throw error;
  }
};

type Parts = Omit<Options, 'times'> & { readonly times: RedisTimes; readonly isCluster: boolean };

/**
 * A connection on which each command settles within `commandMs`. While it is lost, or a command had no reply in time and
 * none has come since, commands reject at once with RedisUnavailableError. A command that was rejected may have been
 * executed. When Redis refuses a command, it rejects with RedisReplyError.
 */
export class RedisConnection {
  readonly isCluster: boolean;
  readonly #urls: readonly string[];
  readonly #times: RedisTimes;
  readonly #client: RedisClient;
  readonly #observer: RedisObserver;
  readonly #reopened = new Set<() => void>();
  /** The names of the connections that are lost. */
  readonly #lost = new Set<string>();
  /** How long a command may take at present. */
  #commandMs: number;
  #isOpen = false;
  #isClosed = false;
  /** A command got no reply in time. Nothing more is sent, so the connection falls silent and is dropped. */
  #isStalled = false;
  #lastError: unknown;

  constructor({ urls, times, isCluster, observer }: Parts) {
    this.#urls = urls;
    this.#times = times;
    this.#commandMs = times.commandMs;
    this.#observer = observer ?? {};
    this.isCluster = isCluster;
    this.#client = createClient(urls, isCluster, {
      times,
      isReopening: () => this.#isOpen && !this.#isClosed,
      onReady: (name) => this.#onReady(name),
      onLost: (name) => this.#onLost(name),
      onDropped: (name) => this.#onOpen(name),
      onError: (error) => {
        this.#lastError = error;
      },
    });
  }

  async open(): Promise<void> {
    try {
      await this.#within(this.#times.connectMs, this.#client.connect());
      // A connection without a password is accepted as well; its commands are not.
      await this.#within(this.#times.connectMs, this.#client.send(null, ['PING']));
      this.#isOpen = true;
    } catch (error) {
      this.close();
      const cause = this.#lastError ?? error;
      throw new RedisUnavailableError(`${this.#name}: ${textOf(cause)}`, cause);
    }
  }

  /**
   * Runs what a start sends: there each command may take as long as connecting. A Redis that is slow for a moment does not
   * end a start.
   */
  async prepare<Prepared>(work: () => Promise<Prepared>): Promise<Prepared> {
    this.#commandMs = Math.max(this.#times.connectMs, this.#times.commandMs);
    try {
      return await work();
    } finally {
      this.#commandMs = this.#times.commandMs;
    }
  }

  /** Sends a command. A Cluster sends it to the node of `key`, or to any node when that is null. */
  send(key: string | null, args: readonly RedisArgument[]): Promise<RedisReply> {
    return this.#run(() => this.#client.send(key, args), String(args[0]));
  }

  /** Sends a command to every Redis that holds keys; resolves with a reply of each. */
  sendToPrimaries(args: readonly RedisArgument[]): Promise<readonly RedisReply[]> {
    return this.#run(async () => {
      const nodes = await this.#client.primaries();
      return Promise.all(nodes.map((node) => node.sendCommand(args) as Promise<RedisReply>));
    }, String(args[0]));
  }

  /** The keys that match a pattern, of every Redis that holds keys. A key may come twice. */
  async *scan(pattern: string): AsyncGenerator<string> {
    const nodes = await this.#run<readonly RedisNode[]>(() => this.#client.primaries());
    for (const node of nodes) {
      let cursor = '0';
      do {
        const command: readonly string[] = ['SCAN', cursor, 'MATCH', pattern, 'COUNT', '1000'];
        const reply: RedisReply = await this.#run(() => node.sendCommand(command), 'SCAN');
        const [next, keys] = Array.isArray(reply) ? reply : [];
        yield* Array.isArray(keys) ? keys.map(String) : [];
        cursor = String(next);
      } while (cursor !== '0');
    }
  }

  /**
   * Sends a command that writes under `key`, and waits for at most `waitMs` until as many replicas have what it wrote.
   * Commands that are sent meanwhile to the same Redis over this connection wait, too.
   */
  sendReplicated(
    key: string,
    args: readonly RedisArgument[],
    replicas: number,
    waitMs: number,
  ): Promise<Replicated> {
    const write = async (): Promise<Replicated> => {
      const node = await this.#client.nodeOf(key);
      const epoch = node.socketEpoch;
      const sent = node.sendCommand(args);
      const waited = node.sendCommand(['WAIT', String(replicas), String(waitMs)]);
      const [reply, acknowledged] = await Promise.all([sent, waited]);
      // WAIT counts the replicas that have what this connection wrote: after a new one has begun, that is nothing.
      if (node.socketEpoch !== epoch) throw new Error('the connection was lost');
      return { reply: reply as RedisReply, replicas: Number(acknowledged) };
    };
    return this.#run(async () => {
      try {
        return await write();
      } catch (error) {
        if (!isMoved(error)) throw error;
        // A command that the Cluster's client routes itself makes it learn where the key is now.
        await this.#client.send(key, ['EXISTS', key]);
        return write();
      }
    });
  }

  /** Calls the listener with each message of the channel. Messages that are published while the connection is lost are lost. */
  subscribe(channel: string, listener: (message: string) => void): Promise<void> {
    return this.#run(() => this.#client.subscribe(channel, listener));
  }

  /** Calls the listener whenever a lost connection is open again. */
  onReopened(listener: () => void): void {
    this.#reopened.add(listener);
  }

  /** Rejects what is under way. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#client.destroy();
  }

  #onReady(name: string): void {
    this.#isStalled = false;
    this.#onOpen(name);
    if (this.#isOpen) for (const listener of this.#reopened) listener();
  }

  #onOpen(name: string): void {
    if (this.#lost.delete(name) && this.#lost.size === 0 && !this.#isClosed) this.#observer.restored?.();
  }

  #onLost(name: string): void {
    if (!this.#isOpen || this.#isClosed) return;
    if (this.#lost.size === 0) this.#observer.lost?.(`${this.#name}: ${textOf(this.#lastError)}`);
    this.#lost.add(name);
  }

  async #run<Reply>(task: () => Promise<unknown>, command?: string): Promise<Reply> {
    if (this.#isClosed) throw new RedisUnavailableError(`${this.#name}: the connection is closed`);
    if (this.#isStalled) throw new RedisUnavailableError(`${this.#name} does not answer`);
    const startedAt = performance.now();
    try {
      const replied = task();
      // A late reply shows that Redis answers again.
      const answered = () => {
        this.#isStalled = false;
      };
      replied.then(answered, answered);
      const reply = await this.#within(this.#commandMs, replied);
      this.#observer.settled?.('replied', performance.now() - startedAt);
      return reply as Reply;
    } catch (error) {
      const failure = this.#failure(error);
      this.#observer.settled?.(outcomeOf(failure, command), performance.now() - startedAt);
      throw failure;
    }
  }

  async #within<Value>(ms: number, task: Promise<Value>): Promise<Value> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      this.#isStalled = true;
      reject(new RedisUnavailableError(`${this.#name} has not answered within ${ms} ms`));
    }, ms);
    try {
      return await Promise.race([task, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  #failure(error: unknown): RedisUnavailableError | RedisReplyError {
    if (error instanceof RedisUnavailableError) return error;
    // After a failover, the name of the URL leads to another primary.
    if (error instanceof ErrorReply && error.message.startsWith('READONLY')) this.#client.reconnect();
    return error instanceof ErrorReply
      ? new RedisReplyError(error.message, error)
      : new RedisUnavailableError(`${this.#name}: ${textOf(error)}`, error);
  }

  /** Its host and port, never its user or password. */
  get #name(): string {
    const [first = ''] = this.#urls;
    const sentinel = parseSentinelUrl(first);
    if (sentinel !== null) return `Redis ${sentinel.name} of the Sentinels at ${sentinel.hosts.join(', ')}`;
    return this.#urls.map((url) => `Redis at ${new URL(url).host}`).join(', ');
  }
}

const createClient = (
  urls: readonly string[],
  isCluster: boolean,
  options: RedisClientOptions,
): RedisClient => {
  if (isCluster) return createClusterClient(urls, options);
  const [url = ''] = urls;
  const sentinel = parseSentinelUrl(url);
  return sentinel === null ? createSingleClient(url, options) : new SentinelClient(sentinel, options);
};

/** Optional commands of a start: some users and managed services are refused them, and nothing fails. */
const QUESTIONS: readonly (string | undefined)[] = ['CONFIG', 'INFO'];

/** A script that Redis does not know, as after a restart, is sent to it, so this does not count as a refusal. */
const outcomeOf = (
  failure: RedisUnavailableError | RedisReplyError,
  command: string | undefined,
): 'replied' | 'refused' | 'unavailable' => {
  if (failure instanceof RedisUnavailableError) return 'unavailable';
  return failure.code === 'NOSCRIPT' || QUESTIONS.includes(command) ? 'replied' : 'refused';
};

const isMoved = (error: unknown): boolean =>
  error instanceof ErrorReply && /^(MOVED|ASK) /.test(error.message);

/** The error of a host with several addresses has no message of its own. */
const textOf = (error: unknown): string =>
  error instanceof AggregateError && error.message === ''
    ? error.errors.map(messageOf).join(', ')
    : messageOf(error);
