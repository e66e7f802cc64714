import { expect, test } from 'vitest';
import { activity, deliver, deliveriesOf } from '../../support/clients/deliver.ts';
import { codesOf, startGateway } from '../../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../../support/gateway/tokens.ts';
import { startFakeService } from '../../support/upstream/fake-service.ts';
import { idOf, restWebhook } from '../../webhooks/support/rest.ts';

/** What a webhook's owner reads about deliveries that this gateway has refused. */

const startSigned = async (env: Record<string, string> = {}) => {
  const service = await startFakeService({
    other: ({ path }) => ({ json: restWebhook({ id: path.split('/').at(-1) ?? '' }) }),
  });
  const gateway = await startGateway({
    UPSTREAM_URL: service.url,
    DELIVERY_SIGNATURE_SECRET: 'known to the service',
    ...env,
  });
  return {
    gateway,
    async refusedOf(webhookId: string, credentials: Record<string, string> = {}) {
      const reply = await gateway.query(
        `query ($webhookId: UUID!) {
          webhook(webhookId: $webhookId) { refusedDeliveries { refusedAt status reason attempt } }
        }`,
        { webhookId },
        credentials,
      );
      const { webhook } = (reply.data ?? {}) as { webhook?: { refusedDeliveries: Refused[] | null } };
      return { codes: codesOf(reply), refused: webhook?.refusedDeliveries };
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
};

type Refused = { refusedAt: string; status: number; reason: string; attempt: number | null };

test('a refused delivery is told to the owner of the webhook that it names, with the reason', async () => {
  await using signed = await startSigned(byToken);
  const [alice, bob] = await Promise.all(
    ['alice', 'bob'].map(async (sub) => bearer(await tokenOf({ sub, tenant: sub }))),
  );
  const since = Date.now();
  const { deliveryUrl } = await deliveriesOf(signed.gateway.url, alice);
  const delivery = { webhookId: idOf(1), attempt: 2, body: activity(1) };
  expect(await deliver(deliveryUrl, delivery)).toBe(401);
  // The URL names the webhook where the headers do not.
  expect(await deliver(`${deliveryUrl}?webhook=${idOf(1)}`, { body: activity(2) })).toBe(401);
  expect(await deliver(deliveryUrl, { body: activity(3) })).toBe(401);
  const lost = deliveryUrl.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
  expect(await deliver(lost, delivery)).toBe(404);

  const { refused } = await signed.refusedOf(idOf(1), alice);
  const unsigned = { status: 401, reason: 'expected a valid signature' };
  expect(refused).toMatchObject([
    { ...unsigned, attempt: 0 },
    { ...unsigned, attempt: 2 },
  ]);
  for (const { refusedAt } of refused ?? []) expect(Date.parse(refusedAt)).toBeGreaterThanOrEqual(since);
  expect(await signed.refusedOf(idOf(2), alice)).toEqual({ codes: [], refused: [] });
  expect(await signed.refusedOf(idOf(1), bob)).toEqual({ codes: [], refused: [] });
  const unscoped = bearer(await tokenOf({ sub: 'alice', scope: 'webhooks' }));
  expect(await signed.refusedOf(idOf(1), unscoped)).toEqual({ codes: ['FORBIDDEN'], refused: null });
});

test('a refused delivery is a line in the log, with webhook, status and size: one a minute of each tenant and status', async () => {
  await using signed = await startSigned();
  const { deliveryUrl } = await deliveriesOf(signed.gateway.url);
  const body = JSON.stringify(activity(1));
  for (const number of [1, 2]) await deliver(deliveryUrl, { webhookId: idOf(number), attempt: 3, body });
  await deliver(deliveryUrl, { webhookId: idOf(3), body: 'x'.repeat(6 * 1024 * 1024) });
  const lines = signed.gateway.logLines
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === 'delivery refused');
  expect(lines).toMatchObject([
    { level: 'warn', webhookId: idOf(1), status: 401, bytes: body.length, attempt: 3 },
    { level: 'warn', webhookId: idOf(3), status: 413, bytes: 6 * 1024 * 1024, attempt: 0 },
  ]);
  expect(lines.map(({ problem }) => problem)).toEqual([
    'expected a valid signature',
    'expected a body of at most 5242880 bytes, got a larger one',
  ]);
});

test('of each webhook the newest are remembered, and one that always fails hides no other', async () => {
  await using signed = await startSigned();
  const { deliveryUrl } = await deliveriesOf(signed.gateway.url);
  await deliver(deliveryUrl, { webhookId: idOf(2), body: {} });
  for (let attempt = 0; attempt < 110; attempt += 1)
    await deliver(deliveryUrl, { webhookId: idOf(1), attempt, body: {} });
  const { refused } = await signed.refusedOf(idOf(1));
  expect(refused?.map(({ attempt }) => attempt)).toEqual(
    Array.from({ length: 20 }, (_, index) => 109 - index),
  );
  expect((await signed.refusedOf(idOf(2))).refused).toHaveLength(1);
});
