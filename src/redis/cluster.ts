import { createCluster } from '@redis/client';
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
