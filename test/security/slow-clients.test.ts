import { expect, test } from 'vitest';
import { deliveriesOf } from '../support/clients/deliver.ts';
import { type Attack, attack, drip, head, json, send, upgrade } from '../support/clients/raw-http.ts';
import { message } from '../support/clients/raw-socket.ts';
import { CONFIGURATIONS, startGatewayProcess } from '../support/gateway/process.ts';

/** A client that is slow, or stops half-way, is disconnected, whichever route and protocol it uses. */

const REFUSED = /^(HTTP\/1.1 4\d\d |$)/;
const NOT_INITIALISED = /^HTTP\/1.1 101 .*Connection initialisation timeout$/s;

const halfFrame = message({ type: 'connection_init' }).subarray(0, 20);

/** `path` is that of the delivery URL. */
const attacksBy = (path: string): [what: string, how: Attack, answer: RegExp][] => [
  ['nothing', () => {}, REFUSED],
  ['half a request line', send('POST /gra'), REFUSED],
  ['headers, slowly', drip('POST /graphql HTTP/1.1\r\nx: '), REFUSED],
  ['a body, slowly', drip(json('content-length: 1000')), REFUSED],
  ['half a body', send(json('content-length: 1000'), '{"query":'), REFUSED],
  ['chunks, slowly', drip(json('transfer-encoding: chunked')), REFUSED],
  ['a delivery, slowly', drip(head(`POST ${path}`, 'content-length: 1000')), REFUSED],
  ['half a delivery', send(head(`POST ${path}`, 'content-length: 1000'), '{'), REFUSED],
  ['a forged delivery, slowly', drip(head(`POST ${path}x`, 'content-length: 1000')), REFUSED],
  ['an upgrade, slowly', drip(upgrade().slice(0, -2)), REFUSED],
  ['a WebSocket that says nothing', send(upgrade()), NOT_INITIALISED],
  ['half a frame', send(upgrade(), halfFrame), NOT_INITIALISED],
];

test('a client that is slow or silent is disconnected, and causes no upstream request', async () => {
  await using started = new AsyncDisposableStack();
  const all = await Promise.all(CONFIGURATIONS.map(([, env]) => startGatewayProcess(env)));
  for (const shipped of all) started.use(shipped);
  const answers = all.map(async ({ url }) => {
    const { pathname } = new URL((await deliveriesOf(url)).deliveryUrl);
    return Promise.all(
      attacksBy(pathname).map(async ([what, how, answer]) => ({
        what,
        received: await attack(url, how),
        answer,
      })),
    );
  });
  for (const { what, received, answer } of (await Promise.all(answers)).flat())
    expect(received, what).toMatch(answer);
  expect(all.flatMap(({ fake }) => fake.requests)).toEqual([]);
});
