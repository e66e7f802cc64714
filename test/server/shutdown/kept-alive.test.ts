import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eventually } from '../../support/clients/subscribe.ts';
import { folderOf } from '../../support/folder.ts';
import { spawnGateway } from '../../support/gateway/spawn.ts';

/** At SIGTERM a client that keeps its connection is told that it closes, before it does. */

type Answer = {
  readonly status: number | undefined;
  readonly connection: string | undefined;
  readonly body: string;
};

/** A client of one connection. It opens no other one. */
const connectOnce = (url: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let isOpen = false;
  const ask = async (): Promise<Answer> => {
    const asked = request(`${url}/graphql?query={__typename}`, { agent });
    asked.on('socket', () => {
      if (isOpen && !asked.reusedSocket) asked.destroy(new Error('its connection was closed'));
      isOpen = true;
    });
    asked.end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    return {
      status: response.statusCode,
      connection: response.headers.connection,
      body: await text(response),
    };
  };
  return { ask, [Symbol.dispose]: () => agent.destroy() };
};

const SERVED = { status: 200, body: expect.stringContaining('"Query"') };
const KEPT = { ...SERVED, connection: 'keep-alive' };
const LAST = { ...SERVED, connection: 'close' };

test('a connection that is idle at SIGTERM waits for its next request, and that answer says that it closes', async () => {
  await using folder = await folderOf({});
  await using gateway = await spawnGateway({ DATA_DIR: folder.path('data') });
  using client = connectOnce(gateway.url);
  expect(await client.ask()).toEqual(KEPT);
  const exit = gateway.end('SIGTERM');
  await eventually(() => gateway.lines.some((line) => line.includes('"stopping"')));
  expect(await client.ask()).toEqual(LAST);
  expect(await exit).toBe(0);
});

test('of clients that ask without end, each gets answers up to the one that says that its connection closes', async () => {
  await using folder = await folderOf({});
  await using gateway = await spawnGateway({ DATA_DIR: folder.path('data') });
  await using clients = new AsyncDisposableStack();
  let answers = 0;
  const hammer = async (number: number): Promise<Answer> => {
    const client = clients.use(connectOnce(gateway.url));
    for (;;) {
      const answer = await client.ask();
      answers += 1;
      if (answer.connection === 'close') return answer;
      expect(answer).toEqual(KEPT);
      // Some ask at once, and some are idle for a while.
      await delay(number);
    }
  };
  const hammered = Promise.all(Array.from({ length: 40 }, (_, number) => hammer(number)));
  await eventually(() => answers > 1000);
  const exit = gateway.end('SIGTERM');
  expect(await hammered).toEqual(Array(40).fill(LAST));
  expect(await exit).toBe(0);
});
