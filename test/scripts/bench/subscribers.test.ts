import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { openRawSocket } from '../../support/clients/raw-socket.ts';

const UPGRADED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
const ACKNOWLEDGED = '{"type":"connection_ack"}';
const EVENT = '{"id":"1"}';

const frame = (firstByte: number, text: string): string => String.fromCharCode(firstByte, text.length) + text;

test('a subscriber of the bench reads what comes in one piece with the answer to its upgrade', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () =>
      socket.write(UPGRADED + frame(0x89, '') + frame(0x81, ACKNOWLEDGED) + frame(0x81, EVENT), 'latin1'),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const texts: string[] = [];
  const { port } = server.address() as AddressInfo;
  using _client = await openRawSocket(`http://127.0.0.1:${port}`, (payload) => texts.push(String(payload)));
  await expect.poll(() => texts).toEqual([EVENT]);
  server.close();
});
