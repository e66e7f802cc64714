import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { keepAlive } from '../../src/server/websocket/keep-alive.ts';
import { eventually } from '../support/clients/subscribe.ts';

/** Sockets of peers that answer no ping. */

/** More than the operating systems of both ends hold. */
const BIG = Buffer.alloc(64 * 1024 * 1024);
const MANY_ROUNDS = 30;

/** A server's side of a socket, and a peer that neither answers pings nor takes anything. */
const open = async (server: WebSocketServer) => {
  const { port } = server.address() as AddressInfo;
  const arrived = once(server, 'connection');
  const peer = new WebSocket(`ws://127.0.0.1:${port}`, { autoPong: false });
  const [socket] = (await arrived) as [WebSocket, { socket: Socket }];
  await once(peer, 'open');
  peer.on('error', () => {});
  peer.pause();
  return { socket, peer };
};

test('a peer that is silent is dropped, but not one that has more to take than its pings', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const [silent, slow] = [await open(server), await open(server)];
  slow.socket.send(BIG);
  const stop = keepAlive(new Set([silent.socket, slow.socket]), 10);
  const start = Date.now();
  await eventually(() => silent.socket.readyState === WebSocket.CLOSED);
  await eventually(() => Date.now() - start > MANY_ROUNDS * 10);
  expect(slow.socket.readyState).toBe(WebSocket.OPEN);
  stop();
  for (const client of server.clients) client.terminate();
  server.close();
});
