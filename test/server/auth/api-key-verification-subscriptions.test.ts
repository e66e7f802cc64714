import { describe, expect, test } from 'vitest';
import type { AppOptions } from '../../../src/app.ts';
import { KEY_VERIFICATION_TIMES } from '../../../src/server/auth/verify-key.ts';
import { SOCKET_TIMES } from '../../../src/server/websocket/protocol.ts';
import { deliver } from '../../support/clients/deliver.ts';
import { listenToEvents } from '../../support/clients/event-stream.ts';
import { openRawSocket, subscribeMessage } from '../../support/clients/raw-socket.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { acceptingKeys, byKey, withKey } from '../../support/gateway/keys.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { codesOf, type Gateway, nowhere, startGateway } from '../../support/gateway/start.ts';
import { readersToBe } from '../../support/gateway/wait-for-readers.ts';
import { type Answer, type Reply, startFakeService } from '../../support/upstream/fake-service.ts';

/**
 * With AUTH=key a subscriber, on a WebSocket or an event stream, has a key that upstream accepts. Invented keys would use
 * up the sockets of all clients. Nothing of a log is lost to a service that can't say.
 */

type Times = NonNullable<AppOptions['times']>;

/** No verification times out on a busy machine. */
const PATIENT: Times = { keyVerification: { timeoutMs: 120_000, recheckMs: 120_000 } };
/** A fraction of the defaults, where a test waits for these times. */
const HURRIED: Times = { keyVerification: { timeoutMs: 300, recheckMs: 100 } };

test('by default upstream has three seconds, a socket ten, and an unverified key is verified again each minute', () => {
  expect(KEY_VERIFICATION_TIMES).toEqual({ timeoutMs: 3000, recheckMs: 60_000 });
  expect(SOCKET_TIMES.authenticationMs).toBe(10_000);
});

const DOCUMENT = 'subscription { deliveries { cursor node { payload } } }';
const known = withKey('known-to-the-service');
const madeUp = (number: number | string = 1) => withKey(`made-up-${number}`);

/** Takes the one key that it knows. */
const knowing =
  (status = 401): Answer =>
  (request) =>
    request.headers['x-service-api-key'] === known['x-service-api-key']
      ? acceptingKeys(request)
      : { status, json: { error: 'invalid API Key' } };

const startKeyed = async (other: Answer, env: Record<string, string> = {}, times = PATIENT) => {
  const made = new AsyncDisposableStack();
  const service = made.use(await startFakeService({ other }));
  const gateway = made.use(await startGateway({ UPSTREAM_URL: service.url, ...byKey, ...env }, { times }));
  return { service, gateway, [Symbol.asyncDispose]: () => made.disposeAsync() };
};

/** Opens a WebSocket with one subscription, and collects the text of its messages. */
const bySocket = async ({ url }: Gateway, headers: Record<string, string>, query = DOCUMENT) => {
  const received: string[] = [];
  const socket = await openRawSocket(url, (text) => received.push(String(text)), headers);
  socket.write(subscribeMessage(query));
  return { ...socket, text: () => received.join('\n') };
};

const byStream = ({ url }: Gateway, headers: Record<string, string>) =>
  listenToEvents(url, DOCUMENT, headers);

const asked = ({ requests }: { requests: readonly { method: string; path: string }[] }) =>
  requests.map(({ method, path }) => `${method} ${path}`);

describe('a key that the service does not know', () => {
  test('begins no event stream', async () => {
    await using keyed = await startKeyed(knowing());
    using stream = await byStream(keyed.gateway, madeUp());
    await eventually(() => stream.text().includes('event: complete'));
    expect(stream.text()).toContain('"code":"UNAUTHENTICATED"');
    await readersToBe(keyed.gateway.url, 0);
  });

  test('gets the error for each operation of its socket, for which upstream is asked once', async () => {
    await using keyed = await startKeyed(knowing());
    using socket = await bySocket(keyed.gateway, madeUp());
    socket.write(subscribeMessage('{ __typename }', {}, '2'), subscribeMessage(DOCUMENT, {}, '3'));
    await eventually(() => socket.text().split('\n').length === 3);
    expect(socket.text().match(/"type":"\w+"|"code":"\w+"/g)).toEqual(
      Array(3).fill(['"type":"error"', '"code":"UNAUTHENTICATED"']).flat(),
    );
    expect(asked(keyed.service)).toEqual(['GET /beta/evm/subscriptions/webhooks']);
  });
});

test('a key that may not list webhooks may query and subscribe all the same', async () => {
  await using keyed = await startKeyed(knowing(403));
  using stream = await byStream(keyed.gateway, madeUp());
  using socket = await bySocket(keyed.gateway, madeUp());
  await readersToBe(keyed.gateway.url, 2);
  socket.write(subscribeMessage('{ __typename }', {}, '2'));
  await eventually(() => socket.text().includes('"__typename":"Query"'));
  expect(stream.text()).not.toContain('errors');
});

test('a socket with an invented key stays open no longer than one without a key', async () => {
  const times = { ...PATIENT, sockets: { ...SOCKET_TIMES, authenticationMs: 1000 }, closeMs: 1000 };
  await using keyed = await startKeyed(knowing(), { MAX_SOCKETS: '4' }, times);
  const { gateway } = keyed;
  using guests = new DisposableStack();
  const sockets = [];
  for (let number = 0; number < 4; number += 1) {
    sockets.push(guests.use(await bySocket(gateway, madeUp(number))));
    guests.use(await byStream(gateway, madeUp(number)));
  }
  using stream = await byStream(gateway, known);
  expect(stream.response.statusCode).toBe(200);
  await readersToBe(gateway.url, 1);
  const readers = async () => {
    guests.use(await bySocket(gateway, known));
    return (await scrape(gateway.url)).sum('gateway_readers');
  };
  await expect.poll(readers).toBeGreaterThan(1);
  expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual(Array(4).fill(4403));
});

test('a key that it takes is asked for once, however many come with it', async () => {
  await using keyed = await startKeyed(async (request) => ({
    ...(await knowing()(request)),
    latencyMs: 100,
  }));
  const { gateway, service } = keyed;
  using all = new DisposableStack();
  for (const one of await Promise.all(
    Array.from({ length: 20 }, (_, number) => (number % 2 ? bySocket : byStream)(gateway, known)),
  ))
    all.use(one);
  await readersToBe(gateway.url, 20);
  all.use(await bySocket(gateway, known));
  all.use(await byStream(gateway, known));
  await readersToBe(gateway.url, 22);
  expect(asked(service)).toEqual(['GET /beta/evm/subscriptions/webhooks']);
});

describe('a service that can not say lets its subscribers have their log', () => {
  const secret = { DELIVERY_SECRET: 'shared-by-both-gateways' };

  /** The path of the known key's delivery URL: a gateway with the same secret, whose service answers, gives it. */
  const pathOf = async (): Promise<string> => {
    await using keyed = await startKeyed(knowing(), secret);
    const { data } = await keyed.gateway.query<{ deliveryUrl: string }>('{ deliveryUrl }', {}, known);
    return new URL(data?.deliveryUrl ?? '').pathname;
  };

  const expectEvents = async (gateway: Gateway) => {
    using stream = await byStream(gateway, known);
    using socket = await bySocket(gateway, known);
    await readersToBe(gateway.url, 2);
    expect(await deliver(`${gateway.url}${await pathOf()}`, { body: { name: 'not lost' } })).toBe(200);
    await eventually(() => [stream, socket].every(({ text }) => text().includes('not lost')));
  };

  test.each<{ kind: string; reply: Reply }>([
    { kind: 'says nothing', reply: { silent: true } },
    { kind: 'fails', reply: { status: 500 } },
    { kind: 'is away', reply: { status: 503 } },
    { kind: 'has too many requests', reply: { status: 429, headers: { 'retry-after': '30' } } },
    { kind: 'wants to be paid', reply: { status: 402 } },
    { kind: 'does not understand', reply: { status: 400, text: 'no' } },
    { kind: 'is something else', reply: { status: 500, text: '<html>' } },
  ])('one that $kind', async ({ reply }) => {
    await using keyed = await startKeyed(() => reply, secret, HURRIED);
    await expectEvents(keyed.gateway);
  });

  test('one that is not there', async () => {
    await using gateway = await startGateway(
      { UPSTREAM_URL: nowhere, ...byKey, ...secret },
      { times: HURRIED },
    );
    await expectEvents(gateway);
  });

  test('and nobody else waits meanwhile', async () => {
    const released = Promise.withResolvers<Reply>();
    const accepted: Reply = { json: { webhooks: [] } };
    await using keyed = await startKeyed((request) =>
      request.headers['x-service-api-key'] === known['x-service-api-key']
        ? acceptingKeys(request)
        : released.promise,
    );
    const { gateway, service } = keyed;
    const waiting = [bySocket(gateway, madeUp()), byStream(gateway, madeUp())] as const;
    await eventually(() => service.requests.length === 1);
    using socket = await bySocket(gateway, known, '{ __typename }');
    await eventually(() => socket.text().includes('"Query"'));
    expect(codesOf(await gateway.query('{ __typename }', {}, madeUp()))).toEqual([]);
    expect(service.requests).toHaveLength(2);
    released.resolve(accepted);
    for (const one of await Promise.all(waiting)) one[Symbol.dispose]();
  });
});

test('a stream that is admitted while the gateway stops does not begin: it would delay the shutdown', async () => {
  const released = Promise.withResolvers<Reply>();
  await using keyed = await startKeyed(() => released.promise);
  const { gateway, service } = keyed;
  const answered = byStream(gateway, known).then(
    () => true,
    () => false,
  );
  await eventually(() => service.requests.length === 1);
  const stopped = gateway.stop();
  released.resolve({ json: { webhooks: [] } });
  expect(await answered).toBe(false);
  await stopped;
});

describe('a caller that was admitted unverified is verified again', () => {
  test('until the service refuses the key: its socket is closed with 4403, its event stream ends', async () => {
    await using keyed = await startKeyed(() => ({ status: 500 }), {}, HURRIED);
    const { gateway, service } = keyed;
    using socket = await bySocket(gateway, madeUp());
    using stream = await byStream(gateway, madeUp());
    await readersToBe(gateway.url, 2);
    const before = service.requests.length;
    await eventually(() => service.requests.length >= before + 3);
    await readersToBe(gateway.url, 2);
    service.script.other = knowing();
    expect(await socket.closed).toBe(4403);
    await eventually(() => stream.text().includes('event: complete'));
    expect(stream.text()).toContain('"code":"UNAUTHENTICATED"');
    await readersToBe(gateway.url, 0);
  });

  test('or takes it, and never once they have gone', async () => {
    await using keyed = await startKeyed(() => ({ status: 500 }), {}, HURRIED);
    const { gateway, service } = keyed;
    const gone = [await bySocket(gateway, madeUp()), await byStream(gateway, madeUp(2))];
    using staying = await bySocket(gateway, known);
    await readersToBe(gateway.url, 3);
    for (const one of gone) one[Symbol.dispose]();
    await readersToBe(gateway.url, 1);
    const taken: unknown[] = [];
    service.script.other = (request) => {
      taken.push(request.headers['x-service-api-key']);
      return acceptingKeys(request);
    };
    await eventually(() => taken.length > 0);
    using another = await byStream(gateway, known);
    await readersToBe(gateway.url, 2);
    expect(taken).toEqual(Object.values(known));
    expect(staying.text() + another.text()).not.toContain('errors');
  });
});
