import { createClient } from '@redis/client';
import { RESP, type RedisClient, type RedisClientOptions, settingsOf } from './client.ts';

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
