import { EventEmitter, once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { createKeepAlive } from '../../../src/server/websocket/server.ts';
import { eventually } from '../../support/clients/subscribe.ts';

/** Keep-alive pings: how they are spread, and what becomes of a peer that answers none. */

/** More than the operating systems of both ends hold. */
const BIG = Buffer.alloc(64 * 1024 * 1024);
const MANY_INTERVALS = 30;

/** A server's side of a socket, and a peer that neither answers pings nor reads. */
const open = async (server: WebSocketServer) => {
  const { port } = server.address() as AddressInfo;
  const connected = once(server, 'connection');
  const peer = new WebSocket(`ws://127.0.0.1:${port}`, { autoPong: false });
  const [socket] = (await connected) as [WebSocket, { socket: Socket }];
  await once(peer, 'open');
  peer.on('error', () => {});
  peer.pause();
  return { socket, peer };
};

test('a peer that is silent is dropped, but not one that has unread data in front of its pings', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const [silent, slow] = [await open(server), await open(server)];
  slow.socket.send(BIG);
  const keepAlive = createKeepAlive(10);
  for (const { socket } of [silent, slow]) keepAlive.add(socket);
  const start = Date.now();
  await eventually(() => silent.socket.readyState === WebSocket.CLOSED);
  await eventually(() => Date.now() - start > MANY_INTERVALS * 10);
  expect(slow.socket.readyState).toBe(WebSocket.OPEN);
  keepAlive.stop();
  for (const client of server.clients) client.terminate();
  server.close();
});

/** The part of a socket that keep-alive uses, with a peer that answers each ping at once. */
class ResponsiveSocket extends EventEmitter {
  readonly OPEN = WebSocket.OPEN;
  readonly readyState = WebSocket.OPEN;
  readonly bufferedAmount = 0;
  pings = 0;

  ping(): void {
    this.pings += 1;
    this.emit('pong');
  }
}

afterEach(() => void vi.useRealTimers());

test('many sockets are not pinged in one turn of the event loop, and each is pinged once in an interval', () => {
  vi.useFakeTimers();
  const sockets = Array.from({ length: 12_000 }, () => new ResponsiveSocket());
  const pings = () => sockets.reduce((sum, socket) => sum + socket.pings, 0);
  const keepAlive = createKeepAlive(12_000);
  for (const socket of sockets) keepAlive.add(socket as unknown as WebSocket);
  const start = Date.now();
  for (let sent = 0; sent < sockets.length; sent = pings()) {
    vi.advanceTimersToNextTimer();
    expect(pings() - sent).toBeLessThan(200);
  }
  expect(Date.now() - start).toBeLessThanOrEqual(12_000);
  expect(new Set(sockets.map((socket) => socket.pings))).toEqual(new Set([1]));

  for (const socket of sockets.splice(1)) socket.emit('close');
  vi.advanceTimersByTime(10 * 12_000);
  expect(pings()).toBe(11);
  keepAlive.stop();
});
