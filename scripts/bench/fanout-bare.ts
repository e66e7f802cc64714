// The limit that the gateway is measured against: a bare `ws` server that executes and stores nothing. The text that is
// posted to it becomes one frame, which it writes to each socket that has subscribed.
import { createServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { WebSocketServer } from 'ws';
import { announce } from '../harness/processes.ts';

const ACKNOWLEDGED = JSON.stringify({ type: 'connection_ack' });

/** An unmasked text frame of 126 to 65,535 bytes. */
const frameOf = (text: Buffer): Buffer => {
  const header = Buffer.from([0x81, 126, 0, 0]);
  header.writeUInt16BE(text.length, 2);
  return Buffer.concat([header, text]);
};

const subscribers = new Set<Duplex>();
const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'graphql-transport-ws' });

const server = createServer(async (request, response) => {
  const frame = frameOf(await buffer(request));
  for (const stream of subscribers) stream.write(frame);
  response.end();
});
server.on('upgrade', (request, stream, head) =>
  sockets.handleUpgrade(request, stream, head, (webSocket) => {
    webSocket.on('message', (message) => {
      if (String(message).includes('"connection_init"')) webSocket.send(ACKNOWLEDGED);
      else subscribers.add(stream);
    });
    webSocket.on('close', () => subscribers.delete(stream));
  }),
);
announce(server);
