import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { head } from '../../support/clients/raw-http.ts';
import { nowhere, startGateway } from '../../support/gateway/start.ts';

const CLIENTS = 96;

test('clients that connect at the same time are accepted in a few turns of the event loop', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { hostname, port } = new URL(gateway.url);
  // All connections wait for the gateway before it has another turn.
  const sockets = Array.from({ length: CLIENTS }, () => connect(Number(port), hostname));
  let turns = 0;
  const count = () => {
    turns += 1;
    immediate = setImmediate(count);
  };
  let immediate = setImmediate(count);
  const answers = sockets.map(async (socket) => {
    socket.write(head('GET /health/live'));
    const [answer] = await once(socket, 'data');
    socket.destroy();
    return String(answer).split('\r\n')[0];
  });
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['HTTP/1.1 200 OK']));
  clearImmediate(immediate);
  expect(turns).toBeLessThan(CLIENTS / 2);
});

test('a port on which another gateway listens is taken', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { port } = new URL(gateway.url);
  await expect(startGateway({ UPSTREAM_URL: nowhere, PORT: port })).rejects.toThrow('EADDRINUSE');
});
