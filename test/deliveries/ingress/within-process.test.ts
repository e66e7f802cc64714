import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { createSender, type Sender } from '../../../src/backend/dispatch/sender.ts';
import type { PendingDelivery } from '../../../src/backend/dispatch/store.ts';
import type { RefusedDelivery } from '../../../src/deliveries/ingress/refused.ts';
import { LogUnavailableError } from '../../../src/deliveries/log/errors.ts';
import type { DeliveryLog } from '../../../src/deliveries/log/log.ts';
import { requestWithin } from '../../../src/server/http/within-process.ts';
import { runs } from '../../support/runs.ts';
import { openLog, readAll, TENANT, WEBHOOK } from '../support/builders.ts';
import { startIngress } from '../support/ingress-server.ts';

/** A gateway takes the deliveries of the service that it embeds without a socket. Neither side can tell. */

const SECRET = 'a secret of signatures';

/** An ingress with a log of its own, to which a sender posts over HTTP or within the process. */
const openSide = async (isWithin: boolean, signs: { secret: string | undefined }) => {
  const opened = await openLog();
  const failing = { log: false };
  const log: DeliveryLog = Object.assign(Object.create(opened), {
    append: (...args: Parameters<DeliveryLog['append']>) =>
      failing.log ? Promise.reject(new LogUnavailableError('none')) : opened.append(...args),
  });
  const told: unknown[] = [];
  const refused: RefusedDelivery[] = [];
  const ingress = await startIngress({
    log,
    limits: { maxBytes: 2_000, timeoutMs: 120_000 },
    signature: { secrets: [SECRET] },
    observer: { answered: (outcome, _durationMs, source) => told.push([outcome, source]) },
    onRefused: (_tenant, each) => refused.push(each),
  });
  const senderOf = (signatureSecret: string | undefined): Sender => {
    const sender = createSender({
      now: () => 1_234_567,
      timeoutMs: 120_000,
      headerPrefix: 'x-service',
      signatureSecret,
      postWithin(url, headers, body) {
        if (!isWithin) return null;
        const { pathname, search } = new URL(url);
        return new Promise((resolve) => {
          const made = requestWithin(
            { method: 'POST', target: `${pathname}${search}`, headers, body },
            resolve,
          );
          ingress.answer(made.request, made.response);
        });
      },
    });
    onTestFinished(() => sender.close());
    return sender;
  };
  const senders = new Map([SECRET, 'another', undefined].map((secret) => [secret, senderOf(secret)]));
  return {
    failing,
    told,
    refused,
    urlOf: (path: string) => `http://127.0.0.1:${ingress.port}${path}`,
    path: new URL(ingress.url).pathname,
    send: (url: string, delivery: PendingDelivery) =>
      senders.get(signs.secret)?.send(url, delivery, new AbortController().signal),
    stored: async () =>
      (await readAll(opened)).map(({ cursor: _, body, ...rest }) => ({ ...rest, body: String(body) })),
  };
};

const bodies = fc.oneof(
  fc.json({ maxDepth: 2 }),
  fc
    .record({ activities: fc.array(fc.record({ to: fc.constantFrom('0x1', `0x${'a'.repeat(40)}`) })) })
    .map((value) => JSON.stringify(value)),
  fc.constantFrom('', '{', 'é\u{1f600}', '[]', `["${'x'.repeat(2_000)}"]`, `["${'é'.repeat(990)}"]`),
);

const deliveries: fc.Arbitrary<PendingDelivery> = fc.record({
  id: fc.nat(),
  webhookId: fc.constantFrom(WEBHOOK, WEBHOOK.replace('1', '2'), 'no id'),
  type: fc.constantFrom('activities' as const, 'balances' as const),
  chainId: fc.constantFrom(1, 31_337),
  blockNumber: fc.nat(),
  retry: fc.nat(5),
  due: fc.constant(0),
  body: bodies,
});

const DELIVERY: PendingDelivery = {
  ...{
    id: 1,
    webhookId: WEBHOOK,
    type: 'activities',
    chainId: 1,
    blockNumber: 1,
    retry: 0,
    due: 0,
    body: '{}',
  },
};

test('a delivery is taken or refused within the process as over HTTP, whatever it is and whatever fails', async () => {
  const signs: { secret: string | undefined } = { secret: SECRET };
  const [over, within] = [await openSide(false, signs), await openSide(true, signs)];
  const paths = fc.constantFrom(
    ...[over.path, over.path, over.path, `${over.path}?webhook=${WEBHOOK}`, `${over.path}?webhook=x&webhook`],
    ...[`${over.path}x`, `${over.path}/more`, '/deliveries/', '/deliveries/%zz/x', `/deliveries/${TENANT}/é`],
  );
  await fc.assert(
    fc.asyncProperty(
      deliveries,
      paths,
      fc.constantFrom(SECRET, SECRET, SECRET, SECRET, 'another', undefined),
      fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
      async (delivery, path, secret, fails) => {
        signs.secret = secret;
        for (const side of [over, within]) side.failing.log = fails;
        const expected = await over.send(over.urlOf(path), delivery);
        expect(await within.send(within.urlOf(path), delivery)).toEqual(expected);
        expect(within.told.at(-1)).toEqual(over.told.at(-1));
      },
    ),
    {
      numRuns: runs(2_000, 300),
      // One of each outcome.
      examples: [
        [DELIVERY, over.path, SECRET, false],
        [{ ...DELIVERY, retry: 1 }, over.path, SECRET, false],
        [{ ...DELIVERY, body: '{' }, over.path, SECRET, false],
        [DELIVERY, over.path, 'another', false],
        [DELIVERY, `${over.path}x`, SECRET, false],
        [{ ...DELIVERY, body: 'x'.repeat(2_001) }, over.path, SECRET, false],
        [DELIVERY, over.path, SECRET, true],
      ],
    },
  );
  expect(within.told).toEqual(over.told);
  expect(within.refused).toEqual(over.refused);
  expect(await within.stored()).toEqual(await over.stored());
  const outcomes = new Set(over.told.map((each) => (each as readonly unknown[])[0]));
  expect(outcomes).toEqual(new Set(['stored', 'duplicate', 400, 401, 404, 413, 503]));
});

test('each status, a gateway that does not listen, and one that does not answer in time, mean the same as over HTTP', async () => {
  let status = 0;
  const server = createServer((_request, response) => {
    if (status !== 0) response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const options = { now: () => 0, headerPrefix: 'x', timeoutMs: 500 };
  const overHttp = createSender(options);
  const within = createSender({
    ...options,
    postWithin: () => (status === 0 ? new Promise(() => {}) : Promise.resolve(status)),
  });
  const absent = createSender({ ...options, postWithin: () => Promise.resolve(null) });
  const { signal } = new AbortController();
  for (status of [200, 202, 204, 301, 400, 401, 404, 408, 413, 415, 422, 429, 500, 502, 503, 504, 0])
    expect(await within.send(url, DELIVERY, signal), String(status)).toEqual(
      await overHttp.send(url, DELIVERY, signal),
    );
  const left = AbortSignal.abort(new Error('left'));
  for (const sender of [overHttp, within])
    await expect(sender.send(url, DELIVERY, left)).rejects.toThrow('left');
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  for (const sender of [overHttp, absent])
    expect(await sender.send(url, DELIVERY, signal)).toMatchObject({ kind: 'unreachable' });
  for (const sender of [overHttp, within, absent]) await sender.close();
});
