import { expect, test } from 'vitest';
import { HTTP_TIMES } from '../../../src/server/http/server.ts';
import { SOCKET_TIMES } from '../../../src/server/websocket/protocol.ts';
import { deliveriesOf } from '../../support/clients/deliver.ts';
import { type Attack, attack, drip, head, json, send, upgrade } from '../../support/clients/raw-http.ts';
import { message } from '../../support/clients/raw-socket.ts';
import { startGateway } from '../../support/gateway/start.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** A client that is slow, or stops half-way, is disconnected, whichever route and protocol it uses. */

/** A fraction of the defaults: the test waits for these times. */
const TIMES = {
  http: { headersMs: 3000, requestMs: 6000, checkEveryMs: 100 },
  sockets: { ...SOCKET_TIMES, initMs: 1000 },
  closeMs: 1000,
  deliveryBody: { timeoutMs: 1000 },
};

test('by default headers have ten seconds to arrive, requests thirty, and connection_init has three', () => {
  expect(HTTP_TIMES).toEqual({ headersMs: 10_000, requestMs: 30_000, checkEveryMs: 1000 });
  expect(SOCKET_TIMES.initMs).toBe(3000);
});

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
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url }, { times: TIMES });
  const { pathname } = new URL((await deliveriesOf(gateway.url)).deliveryUrl);
  const attacks = attacksBy(pathname).map(async ([what, how, answer]) =>
    expect(await attack(gateway.url, how), what).toMatch(answer),
  );
  await Promise.all(attacks);
  expect(fake.requests).toEqual([]);
});
