import { createClient, createCluster, RESP_TYPES } from '@redis/client';

/** How long things may take, in milliseconds. */
export type RedisTimes = {
  /** From sending a command to its reply. */
  readonly commandMs: number;
  /** From opening a connection until Redis has accepted it. */
  readonly connectMs: number;
  /** A connection over which nothing was sent and nothing came for so long is opened anew. Longer than `pingMs`. */
  readonly silentMs: number;
  /** The pause between two pings, which keep an idle connection from being silent. */
  readonly pingMs: number;
};

export type RedisArgument = string | Buffer;

/** Bulk strings are bytes: keys and payloads may hold any. */
export type RedisReply = number | string | Buffer | null | readonly RedisReply[];

/** One connection to one Redis. */
type Node = {
  /** Counts how often the connection was opened. */
  readonly socketEpoch: number;
  sendCommand(args: readonly RedisArgument[]): Promise<unknown>;
};

/** The client of one Redis, or of a Cluster. */
export type RedisClient = {
  connect(): Promise<unknown>;
  send(key: string | null, args: readonly RedisArgument[]): Promise<unknown>;
  /** The connection to the Redis that holds the key. */
  nodeOf(key: string): Promise<Node>;
  /** The connections to all Redis that hold keys: a Cluster's primaries, or the only one. */
  primaries(): Promise<readonly Node[]>;
  /** Calls the listener with each message of the channel. It has a connection of its own. */
  subscribe(channel: string, listener: (message: string) => void): Promise<void>;
  /** Opens the connections anew. A Cluster's client follows its nodes by itself. */
  reconnect(): void;
  destroy(): void;
};

type Options = {
  readonly urls: readonly string[];
  /** Whether the URLs are nodes of a Cluster. */
  readonly isCluster: boolean;
  readonly times: RedisTimes;
  /** Whether a connection that was lost, or could not be opened, is tried again. */
  readonly isReopening: () => boolean;
  /** A connection is open again, or was opened to another node. */
  readonly onReady: () => void;
  readonly onError: (error: unknown) => void;
};

const MAX_PAUSE_MS = 1000;

/** Full jitter: all gateways lose a Redis at the same time, and must not come back in step. */
const pauseMs = (retries: number): number =>
  Math.random() * Math.min(MAX_PAUSE_MS, 50 * 2 ** Math.min(retries, 10));

/** Protocol 2, in which all replies are integers, texts, bytes and lists of these. */
const RESP = 2;

export const createRedisClient = (options: Options): RedisClient =>
  options.isCluster ? createClusterClient(options) : createSingle(options);

const settingsOf = ({ times, isReopening }: Options) => ({
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

const createSingle = (options: Options): RedisClient => {
  const [url = ''] = options.urls;
  const create = () =>
    createClient({ url, RESP, ...settingsOf(options) })
      .on('error', options.onError)
      .on('ready', options.onReady);
  const client = create();
  const subscriber = create();
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

/** The user, the password and the use of TLS are those of the first URL, for nodes that the Cluster names as well. */
const createClusterClient = (options: Options): RedisClient => {
  const { socket, commandOptions, ...settings } = settingsOf(options);
  const [first = ''] = options.urls;
  const { username, password, protocol } = new URL(first);
  const credentials = {
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
  };
  const tls = protocol === 'rediss:' ? { tls: true as const } : {};
  const cluster = createCluster({
    RESP,
    rootNodes: options.urls.map((url) => ({ url })),
    defaults: { ...settings, ...credentials, socket: { ...socket, ...tls } },
    commandOptions,
  })
    .on('error', options.onError)
    .on('node-error', options.onError)
    .on('node-ready', options.onReady);
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
