import { createClient, createCluster } from '@redis/client';
import { RESP, type RedisClient, type RedisClientOptions, settingsOf } from './client.ts';

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
