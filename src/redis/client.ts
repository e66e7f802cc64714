import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createClient, createCluster, RESP_TYPES } from '@redis/client';

/** How long things may take, in milliseconds. */
export type RedisTimes = {
  /** From sending a command to its reply. */
  readonly commandMs: number;
  /** From opening a connection until Redis has accepted it. */
  readonly connectMs: number;
  /** A connection that has been silent in both directions for this time is opened anew. Longer than `pingMs`. */
  readonly silentMs: number;
  /** The pause between two pings, which keep an idle connection from being silent. */
  readonly pingMs: number;
};

export type RedisArgument = string | Buffer;

/** Bulk strings are bytes: keys and payloads may hold any. */
export type RedisReply = number | string | Buffer | null | readonly RedisReply[];

/** One connection to one Redis. */
export type RedisNode = {
  /** Counts how often the connection was opened. */
  readonly socketEpoch: number;
  sendCommand(args: readonly RedisArgument[]): Promise<unknown>;
};

/** The client of one Redis, of a Cluster, or of the primary that Sentinels name. */
export type RedisClient = {
  connect(): Promise<unknown>;
  send(key: string | null, args: readonly RedisArgument[]): Promise<unknown>;
  /** The connection to the Redis that holds the key. */
  nodeOf(key: string): Promise<RedisNode>;
  /** The connections to all Redis that hold keys: a Cluster's primaries, or the only one. */
  primaries(): Promise<readonly RedisNode[]>;
  /** Calls the listener with each message of the channel. It has a connection of its own. */
  subscribe(channel: string, listener: (message: string) => void): Promise<void>;
  /** Opens the connections anew. A Cluster's client follows its nodes by itself. */
  reconnect(): void;
  destroy(): void;
};

export type RedisClientOptions = {
  readonly times: RedisTimes;
  /** Whether a connection that was lost, or could not be opened, is tried again. */
  readonly isReopening: () => boolean;
  /** A connection of this name is open again, or was opened to another node. */
  readonly onReady: (name: string) => void;
  /** A connection of this name is lost, or could not be opened again. */
  readonly onLost: (name: string) => void;
  /** A connection of this name is no longer used: its node has left the Cluster. */
  readonly onDropped: (name: string) => void;
  readonly onError: (error: unknown) => void;
};

/** Protocol 2, in which all replies are integers, texts, bytes and lists of these. */
export const RESP = 2;

const MAX_PAUSE_MS = 1000;

/** Full jitter: all gateways lose a Redis at the same time, and must not reconnect in step. */
export const pauseMs = (retries: number): number =>
  Math.random() * Math.min(MAX_PAUSE_MS, 50 * 2 ** Math.min(retries, 10));

/** What the library reports about every connection. */
export const settingsOf = ({ times, isReopening }: Pick<RedisClientOptions, 'times' | 'isReopening'>) => ({
  disableOfflineQueue: true,
  pingInterval: times.pingMs,
  maintNotifications: 'disabled' as const,
  commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
  socket: {
    connectTimeout: times.connectMs,
    socketTimeout: times.silentMs,
    reconnectStrategy: (retries: number): number | false => (isReopening() ? pauseMs(retries) : false),
  },
});

/** Redis can't be reached, does not answer in time, or was closed. A later attempt may succeed. */
export class RedisUnavailableError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'RedisUnavailableError';
  }
}

/** Redis has refused a command. `code` is the first word of its reply: `OOM`, `READONLY`, `NOPERM`, `NOSCRIPT`, … */
export class RedisReplyError extends Error {
  readonly code: string;

  constructor(reply: string, cause?: unknown) {
    super(reply, { cause });
    this.name = 'RedisReplyError';
    this.code = reply.split(' ', 1)[0] ?? '';
  }
}

/** A Lua script, which Redis executes atomically. */
export type RedisScript = { readonly source: string; readonly sha: string };

/** Reads the script from its files, one after another, behind `beginning`. Throws when one is missing. */
export const readScript = (files: readonly URL[], beginning = ''): RedisScript => {
  const source = beginning + files.map((file) => readFileSync(file, 'utf8')).join('');
  return { source, sha: hash('sha1', source) };
};

/**
 * Runs a script by its hash, and sends its source if Redis does not know it yet. `send` sends the command. All keys that the
 * script uses must have one hash tag.
 */
export const runScript = async <Reply = RedisReply>(
  send: (args: readonly RedisArgument[]) => Promise<Reply>,
  { source, sha }: RedisScript,
  keys: readonly string[],
  args: readonly RedisArgument[],
): Promise<Reply> => {
  const rest = [String(keys.length), ...keys, ...args];
  try {
    return await send(['EVALSHA', sha, ...rest]);
  } catch (error) {
    if (!(error instanceof RedisReplyError) || error.code !== 'NOSCRIPT') throw error;
    return send(['EVAL', source, ...rest]);
  }
};

type Node = { readonly host: string; readonly port: number };

const nameOf = ({ host, port }: Node): string => `${host}:${port}`;

/**
 * The client of a Cluster, which is found by any of the URLs. The user, the password and the use of TLS are those of the
 * first one, for nodes that the Cluster names as well.
 */
export const createClusterClient = (urls: readonly string[], options: RedisClientOptions): RedisClient => {
  const { socket, commandOptions, ...settings } = settingsOf(options);
  const [first = ''] = urls;
  const { username, password, protocol } = new URL(first);
  const credentials = {
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
  };
  const tls = protocol === 'rediss:' ? { tls: true as const } : {};
  const cluster = createCluster({
    RESP,
    rootNodes: urls.map((url) => ({ url })),
    defaults: { ...settings, ...credentials, socket: { ...socket, ...tls } },
    commandOptions,
  })
    .on('error', options.onError)
    .on('node-error', options.onError)
    .on('node-reconnecting', (node: Node) => options.onLost(nameOf(node)))
    .on('node-disconnect', (node: Node) => options.onDropped(nameOf(node)))
    .on('node-ready', (node: Node) => options.onReady(nameOf(node)));
  return {
    connect: () => cluster.connect(),
    send: (key, args) => cluster.sendCommand(key ?? undefined, false, [...args]),
    nodeOf: (key) => cluster.getNodeClientForKey(key),
    primaries: () => Promise.all(cluster.masters.map((master) => cluster.nodeClient(master))),
    subscribe: (channel, listener) => cluster.subscribe(channel, listener),
    reconnect: () => {},
    destroy: () => cluster.destroy(),
  };
};

/** The client of one Redis: a connection for commands, and one for messages. */
export const createSingleClient = (url: string, options: RedisClientOptions): RedisClient => {
  const create = (name: string) =>
    createClient({ url, RESP, ...settingsOf(options) })
      .on('error', options.onError)
      .on('reconnecting', () => options.onLost(name))
      .on('ready', () => options.onReady(name));
  const client = create('commands');
  const subscriber = create('messages');
  return {
    connect: () => Promise.all([client.connect(), subscriber.connect()]),
    send: (_key, args) => client.sendCommand([...args]),
    nodeOf: async () => client,
    primaries: async () => [client],
    subscribe: (channel, listener) => subscriber.subscribe(channel, listener),
    reconnect() {
      for (const one of [client, subscriber]) one.sendCommand(['QUIT']).catch(() => {});
    },
    destroy() {
      client.destroy();
      subscriber.destroy();
    },
  };
};
