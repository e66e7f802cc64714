import { describe, expect, test } from 'vitest';
import { maskError } from '../../src/graph/errors.ts';
import { createUpstreamClient } from '../../src/upstream/client/client.ts';
import { unsendable } from '../../src/upstream/client/errors.ts';
import { Usage } from '../../src/upstream/client/request.ts';
import { poll } from '../support/clients/queries.ts';
import { codesOf, startGateway } from '../support/gateway/start.ts';
import { TRICKS } from '../support/payloads/injection-payloads.ts';
import { freshAddress, transaction, transactionsEnvelope } from '../support/upstream/builders.ts';
import { startFakeService } from '../support/upstream/fake-service.ts';
import { servingTransactions } from '../support/upstream/paging.ts';
import { requestScope } from '../support/upstream/request-scope.ts';
import { restWebhook } from '../webhooks/support/rest.ts';

/** A request that can't be sent is a defect of the gateway: it reaches nobody, costs nothing, and nothing else waits for it. */

const REFUSED = 10_000;

test('names of webhooks send no request anywhere, and cost no connection', async () => {
  let names: readonly string[] = [];
  let url = '';
  await using fake = await startFakeService({
    transactions: servingTransactions([]),
    other: ({ path }) =>
      path.endsWith('/addresses')
        ? { json: { addresses: [] } }
        : {
            json: {
              webhooks: names.map((name, index) => ({
                id: `0193f0a0-0000-7000-8000-${String(index).padStart(12, '0')}`,
                name,
                type: 'transactions',
                url,
                active: true,
              })),
            },
          },
  });
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, UPSTREAM_CONNECTIONS: '2' });
  ({ deliveryUrl: url } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }'));
  for (const trick of ['a b', 'é', '\u{1f600}', '', '.', '..', '../../../v1/x?y=1&', ...TRICKS]) {
    names = [`watchWallet ${trick}`];
    const { data } = await gateway.query<{ watchedWallets: { nodes: { wallet: { address: string } }[] } }>(
      '{ watchedWallets { nodes { wallet { address transactions { nodes { hash } } } } } }',
    );
    for (const { wallet } of data?.watchedWallets?.nodes ?? [])
      expect(wallet.address, trick).toMatch(/^0x[0-9a-f]{40}$/);
  }
  const paths = new Set(fake.requests.map(({ path }) => path.replace(/\/0193[^/]+/, '/{id}')));
  expect([...paths].filter((path) => !path.startsWith('/beta/evm/subscriptions/webhooks'))).toEqual([]);
  expect((await poll(gateway, freshAddress())).errors).toBeUndefined();
});

test('an id or an offset of the service names no other path', async () => {
  const strange = ['', '.', '../../v1/x?y=1&', '%2e%2e/', 'a b', '\n', '\u{1f600}', '1&limit=1#'];
  await using fake = await startFakeService({
    transactions: ({ query }) => {
      const offset = query.get('offset');
      const next = strange[strange.indexOf(offset ?? '') + 1];
      return { json: transactionsEnvelope([transaction()], { next_offset: next ?? null }) };
    },
    other: () => ({ json: { webhooks: strange.map((id) => restWebhook({ id })) } }),
  });
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const { data, errors } = await gateway.query<{ webhooks: { nodes: null[] } }>(
    '{ webhooks { nodes { id } } }',
  );
  expect(data?.webhooks.nodes).toEqual(strange.map(() => null));
  expect(codesOf({ errors })).toEqual(strange.map(() => 'UPSTREAM_INVALID_RESPONSE'));
  const address = freshAddress();
  await gateway.data(
    'query ($address: Address!) { wallet(address: $address) { transactions(first: 20) { nodes { hash } } } }',
    { address },
  );
  const [list, ...lookups] = fake.requests;
  expect(list?.path).toBe('/beta/evm/subscriptions/webhooks');
  expect(new Set(lookups.map(({ path }) => path))).toEqual(new Set([`/v1/evm/transactions/${address}`]));
  expect(lookups.map(({ query }) => query.get('offset'))).toEqual([null, ...strange.slice(1)]);
  expect(new Set(lookups.map(({ query }) => query.getAll('limit').join()))).toEqual(new Set(['100']));
});

describe('an upstream client', () => {
  const start = async () => {
    const fake = await startFakeService({ other: () => ({ json: { fine: true } }) });
    const limits = { timeoutMs: 20_000, connections: 4, perSecond: null };
    const client = createUpstreamClient({ url: fake.url, keyHeader: 'X-Key', ...limits });
    return {
      fake,
      client,
      async [Symbol.asyncDispose]() {
        await client.close();
        await fake[Symbol.asyncDispose]();
      },
    };
  };
  const request = { resource: 'thing', method: 'GET', path: ['thing'], cost: 1 } as const;

  test.each([
    '',
    '.',
    '..',
    '...',
    'a/b',
    'a b',
    'a%2fb',
    'a?b',
    'a#b',
    'a\\b',
    'a\n',
    '\u0000',
    'é',
    '\ud800',
  ])('sends the segment %j as it is, or refuses it', async (segment) => {
    await using started = await start();
    const usage = new Usage();
    const sent = started.client.request({ ...request, path: ['thing', segment] }, requestScope(usage));
    if (segment === '...') await sent;
    else await expect(sent).rejects.toMatchObject({ failure: 'unsendable' });
    expect(started.fake.requests.map(({ path }) => path)).toEqual(segment === '...' ? ['/thing/...'] : []);
    expect(usage.requests).toBe(started.fake.requests.length);
  });

  test(`answers as before after ${REFUSED} requests whose key no header can carry`, async () => {
    await using started = await start();
    const { client, fake } = started;
    const usage = new Usage();
    const credential = { key: 'not\na header', owner: 'client' } as const;
    const scope = { ...requestScope(usage), credential };
    for (let sent = 0; sent < REFUSED; sent += 100)
      await Promise.all(
        Array.from({ length: 100 }, () =>
          expect(client.request(request, scope)).rejects.toMatchObject({ failure: 'unsendable' }),
        ),
      );
    expect(client.openCircuits()).toEqual([]);
    expect(usage).toMatchObject({ requests: 0, computeUnits: 0 });
    expect(fake.requests).toEqual([]);
    const answers = Array.from({ length: 8 }, () => client.request(request, requestScope()));
    for (const { body } of await Promise.all(answers)) expect(body).toEqual({ fine: true });
    expect(Math.max(...fake.requests.map(({ concurrency }) => concurrency))).toBeLessThanOrEqual(4);
  });
});

test('a client gets INTERNAL_SERVER_ERROR for it, which quotes nothing, and the operator the defect', () => {
  const defect = unsendable('a segment of its path that is no address, id or word');
  const unexpected: unknown[] = [];
  const shown = maskError(defect, (error) => unexpected.push(error));
  expect(shown.extensions).toEqual({ code: 'INTERNAL_SERVER_ERROR' });
  expect(shown.message).toBe('Something went wrong inside the gateway.');
  expect(unexpected).toEqual([defect]);
});
