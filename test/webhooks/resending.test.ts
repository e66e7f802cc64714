import { describe, expect, test } from 'vitest';
import { ALICE } from '../backend/dispatch/support/builders.ts';
import { startReceiver } from '../backend/dispatch/support/receiver.ts';
import { deliver, deliveriesOf } from '../support/clients/deliver.ts';
import { type Gateway, startGateway } from '../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../support/gateway/tokens.ts';
import { startFakeService } from '../support/upstream/fake-service.ts';
import { BLOCKS } from './support/block-fixtures.ts';
import { change, createdId } from './support/documents.ts';
import { startManaged } from './support/managed.ts';

/** What came of deliveries, and how they are sent again: by the service, and from the gateway's own log. */

const ATTEMPTS = `query ($webhookId: UUID!) {
  webhook(webhookId: $webhookId) {
    attempts { deliveryId chainId attemptedAt latencyMs attempt accepted status problem nextAttemptAt bytes payload }
  }
}`;

type Attempt = {
  readonly deliveryId: string;
  readonly attempt: number;
  readonly accepted: boolean;
  readonly status: number | null;
  readonly payload: unknown;
};

const attemptsOf = async (gateway: Gateway, webhookId: string, headers: Record<string, string> = {}) => {
  const { data } = await gateway.query(ATTEMPTS, { webhookId }, headers);
  return (data as { webhook: { attempts: readonly Attempt[] | null } }).webhook.attempts;
};

describe('the service of this project', () => {
  test('tells its attempts, and sends again what failed, one or all', async () => {
    let status = 500;
    await using receiver = await startReceiver(() => status);
    await using managed = await startManaged();
    const { gateway, sandbox } = managed;
    const webhookId = await createdId(gateway, { addresses: [ALICE], url: `${receiver.url}/hook?key=hush` });
    for (const block of BLOCKS) sandbox.webhooks.handleBlock(block);
    await sandbox.webhooks.settled();
    const failed = (await attemptsOf(gateway, webhookId)) ?? [];
    // The first attempt and five retries of each: then the service gives up.
    const ids = [...new Set(failed.map(({ deliveryId }) => deliveryId))];
    expect(failed).toHaveLength(6 * ids.length);
    expect(failed[0]).toMatchObject({ attempt: 5, accepted: false, status: 500, nextAttemptAt: null });
    expect(JSON.stringify(failed)).not.toContain('hush');
    expect(receiver.received.map(({ body }) => JSON.parse(body))).toContainEqual(failed[0]?.payload);

    status = 200;
    const before = receiver.received.length;
    const [one = ''] = ids;
    expect(await change(gateway, 'resendDeliveries', { webhookId, deliveryIds: [one, one] })).toMatchObject({
      webhookId,
      resent: 1,
    });
    expect(JSON.parse((await receiver.until(before + 1)).at(-1)?.body ?? '')).toEqual(
      failed.find(({ deliveryId }) => deliveryId === one)?.payload,
    );
    await sandbox.webhooks.settled();
    expect(await change(gateway, 'resendDeliveries', { webhookId })).toMatchObject({
      resent: ids.length - 1,
    });
    await sandbox.webhooks.settled();
    expect(receiver.received).toHaveLength(before + ids.length);
    expect(await change(gateway, 'resendDeliveries', { webhookId })).toMatchObject({ resent: 0 });
    // Newer attempts may have taken the place of one since it was read: the others are sent all the same.
    expect(await change(gateway, 'resendDeliveries', { webhookId, deliveryIds: ['x', one] })).toMatchObject({
      resent: 1,
    });
    await sandbox.webhooks.settled();
    expect(receiver.received).toHaveLength(before + ids.length + 1);
    expect(await change(gateway, 'resendDeliveries', { webhookId, deliveryIds: ['x'] })).toMatchObject({
      resent: 0,
    });
  });

  test('does not show the bodies of another tenant’s events', async () => {
    await using managed = await startManaged(byToken);
    const { gateway, sandbox } = managed;
    const tokenFor = async (tenant: string) =>
      bearer(await tokenOf({ scope: 'webhooks deliveries', tenant }));
    const [alices, bobs] = [await tokenFor('alice'), await tokenFor('bob')];
    const created = await gateway.query(
      `mutation { createWebhook(input: { name: "hers", type: TRANSACTIONS, addresses: ["${ALICE}"] }) {
        ... on CreateWebhookPayload { webhook { webhookId } } } }`,
      {},
      alices,
    );
    const { webhookId } = (created.data as { createWebhook: { webhook: { webhookId: string } } })
      .createWebhook.webhook;
    for (const block of BLOCKS) sandbox.webhooks.handleBlock(block);
    await sandbox.webhooks.settled();
    const hers = (await attemptsOf(gateway, webhookId, alices)) ?? [];
    expect(hers[0]).toMatchObject({
      accepted: true,
      status: 200,
      payload: { delivery_id: expect.any(String) },
    });
    const seen = (await attemptsOf(gateway, webhookId, bobs)) ?? [];
    expect(seen).toHaveLength(hers.length);
    expect(seen.map(({ payload }) => payload)).toEqual(seen.map(() => null));

    const withoutDeliveries = bearer(await tokenOf({ scope: 'webhooks', tenant: 'alice' }));
    expect(await attemptsOf(gateway, webhookId, withoutDeliveries)).toBeNull();
  });
});

test('where the service tells nothing, attempts are null and a resend is unsupported', async () => {
  const webhookId = '019a7b1c-5c00-7d1e-8a30-6b1f0c2e9d41';
  const webhook = { id: webhookId, name: 'x', type: 'transactions', url: 'https://a.example/', active: true };
  await using service = await startFakeService({
    other({ path }) {
      if (path.endsWith('/webhooks')) return { json: { webhooks: [webhook] } };
      return path.endsWith(webhookId) ? { json: webhook } : { status: 404, text: 'Not Found' };
    },
  });
  await using gateway = await startGateway({ UPSTREAM_URL: service.url });
  expect(await attemptsOf(gateway, webhookId)).toBeNull();
  expect(await change(gateway, 'resendDeliveries', { webhookId })).toMatchObject({ code: 'UNSUPPORTED' });
});

const REPLAY = `mutation ($ids: [ID!]!, $url: URL!) {
  replayDeliveries(input: { ids: $ids, url: $url }) { replayed { deliveryId status latencyMs problem } }
}`;

type Replayed = {
  readonly deliveryId: string;
  readonly status: number | null;
  readonly problem: string | null;
};

const replay = async (gateway: Gateway, ids: readonly string[], url: string, headers = {}) => {
  const { data, errors } = await gateway.query(REPLAY, { ids, url }, headers);
  const { replayDeliveries } = (data ?? {}) as { replayDeliveries?: { replayed: readonly Replayed[] } };
  return { replayed: replayDeliveries?.replayed ?? [], errors };
};

const store = async (gateway: Gateway, number: number, headers = {}) => {
  const { deliveryUrl } = await deliveriesOf(gateway.url, headers);
  expect(await deliver(deliveryUrl, { body: { transactions: [], number } })).toBe(200);
};

const storedIn = async (gateway: Gateway, headers = {}) => {
  const { data } = await gateway.query('{ deliveries(first: 3) { nodes { id } } }', {}, headers);
  return (data as { deliveries: { nodes: { id: string }[] } }).deliveries.nodes.map(({ id }) => id);
};

describe('the gateway replays what it has stored', () => {
  test('to a URL of the caller’s choice, unsigned and in order', async () => {
    let status = 200;
    await using receiver = await startReceiver(() => status);
    await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' });
    for (const number of [1, 2]) await store(gateway, number);
    const ids = await storedIn(gateway);
    const { replayed } = await replay(gateway, [...ids, ids[0] ?? ''], `${receiver.url}/mine?key=hush`);
    expect(replayed).toMatchObject(ids.map((deliveryId) => ({ deliveryId, status: 200, problem: null })));
    expect(receiver.received.map(({ body }) => JSON.parse(body).number)).toEqual([1, 2]);
    expect(receiver.received[0]?.headers).not.toHaveProperty('x-replay-webhook-signature');
    expect(gateway.logLines.find((line) => line.includes('deliveries replayed'))).toContain(receiver.url);
    expect(gateway.logLines.join('')).not.toContain('hush');

    status = 302;
    expect((await replay(gateway, ids, receiver.url)).replayed[1]).toMatchObject({
      status: 302,
      problem: 'it answered 302',
    });
    // After one without an answer, the rest is not sent.
    const { replayed: unanswered } = await replay(gateway, ids, 'http://127.0.0.1:9/');
    expect(unanswered.map(({ problem }) => problem)).toEqual([
      'the connection was refused',
      expect.stringContaining('not sent'),
    ]);
  });

  test('never to a private address while the service is elsewhere', async () => {
    await using receiver = await startReceiver();
    await using managed = await startManaged();
    const { gateway } = managed;
    await store(gateway, 1);
    const ids = await storedIn(gateway);
    const { port } = new URL(receiver.url);
    const hosts = [
      '127.0.0.1',
      'localhost',
      '2130706433',
      '0x7f.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
    ];
    for (const host of [...hosts, '169.254.169.254', '10.0.0.1', 'no-such-host.invalid']) {
      const { replayed } = await replay(gateway, ids, `http://${host}:${port}/`);
      expect([host, replayed[0]?.problem]).toEqual([
        host,
        'its host has no address that this gateway may reach',
      ]);
    }
    expect(receiver.received).toEqual([]);
    expect((await replay(gateway, ids, 'ftp://a.example/')).errors?.[0]?.extensions?.code).toBe(
      'BAD_USER_INPUT',
    );
    expect((await replay(gateway, [], receiver.url)).errors?.[0]?.message).toContain('1 to 20 ids');
  });

  test('only of the caller’s tenant, and with both scopes', async () => {
    await using managed = await startManaged(byToken);
    const { gateway } = managed;
    const tokenFor = async (tenant: string, scope: string) => bearer(await tokenOf({ scope, tenant }));
    const alices = await tokenFor('alice', 'webhooks deliveries');
    await store(gateway, 1, alices);
    const ids = await storedIn(gateway, alices);
    expect(ids).toHaveLength(1);
    const url = 'http://127.0.0.1:9/';
    expect((await replay(gateway, ids, url, alices)).errors).toBeUndefined();
    const bobs = await replay(gateway, ids, url, await tokenFor('bob', 'webhooks deliveries'));
    expect(bobs.errors).toHaveLength(1);
    for (const scope of ['webhooks', 'deliveries'])
      expect(
        (await replay(gateway, ids, url, await tokenFor('alice', scope))).errors?.[0]?.extensions?.code,
      ).toBe('FORBIDDEN');
  });
});
