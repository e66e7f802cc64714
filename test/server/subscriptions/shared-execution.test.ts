import { expect, test } from 'vitest';
import { activity, deliver } from '../../support/clients/deliver.ts';
import { openRawSocket, subscribeMessage } from '../../support/clients/raw-socket.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { acceptingKeys, byKey, withKey } from '../../support/gateway/keys.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { type Gateway, nowhere, startGateway } from '../../support/gateway/start.ts';
import { ALL, bearer, byToken, tokenOf } from '../../support/gateway/tokens.ts';
import { readersToBe } from '../../support/gateway/wait-for-readers.ts';
import { startFakeService } from '../../support/upstream/fake-service.ts';

/** Subscribers with equal operation, variables and rights share each event's execution and frame; others do not. */

const DOCUMENT = `subscription ($after: String, $filter: DeliveryFilter, $with: Boolean = true) {
  deliveries(after: $after, filter: $filter) { cursor node { type @include(if: $with) } }
}`;

type Subscriber = {
  readonly query?: string;
  readonly variables?: object;
  readonly connectionParams?: object;
};

const urlOf = async (gateway: Gateway, headers: Record<string, string> = {}) =>
  gateway.data<{ deliveryUrl: string; deliveries: { head: string } }>(
    '{ deliveryUrl deliveries { head } }',
    {},
    headers,
  );

/** Resolves with the number of executions of two deliveries, after each subscriber has received both. */
const executionsFor = async (
  gateway: Gateway,
  url: string,
  subscribers: readonly Subscriber[],
): Promise<number> => {
  await using clients = new AsyncDisposableStack();
  const counts = subscribers.map(() => 0);
  const executed = async () => (await scrape(gateway.url)).sum('gateway_events_executed_total');
  const before = await executed();
  for (const [index, { query = DOCUMENT, variables, connectionParams }] of subscribers.entries()) {
    const count = () => {
      counts[index] = (counts[index] ?? 0) + 1;
    };
    const client = await openRawSocket(gateway.url, count, connectionParams);
    clients.use(client);
    client.write(subscribeMessage(query, variables));
  }
  await readersToBe(gateway.url, subscribers.length);
  for (const number of [1, 2])
    await deliver(url, { type: 'activities', chainId: 1, body: activity(before * 10 + number) });
  await eventually(
    () => counts.every((count) => count >= 2),
    () => counts,
  );
  expect(counts).toEqual(subscribers.map(() => 2));
  return (await executed()) - before;
};

const withHead = (count: number, head: string): Subscriber[] =>
  Array.from({ length: count }, (_, n) => (n % 2 ? { variables: { after: head } } : {}));

test('equal subscribers share, wherever they resume and whatever their filter; those with another document or variable do not', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { deliveryUrl, deliveries } = await urlOf(gateway);
  const head = async () => (await urlOf(gateway)).deliveries.head;
  expect(await executionsFor(gateway, deliveryUrl, withHead(50, deliveries.head))).toBe(2);
  await readersToBe(gateway.url, 0);
  const kinds: Subscriber[] = [
    {},
    { query: `${DOCUMENT} ` },
    { variables: { with: false } },
    { variables: { filter: { chainIds: [1] } } },
    { variables: { filter: { chainIds: [1, 2] } } },
    { variables: { filter: { types: ['ACTIVITIES'] } } },
  ];
  const FILTERS = kinds.filter(({ variables }) => variables && 'filter' in variables).length;
  const after = await head();
  const twice = kinds.flatMap((kind) => [kind, { ...kind, variables: { ...kind.variables, after } }]);
  expect(await executionsFor(gateway, deliveryUrl, twice)).toBe(2 * (kinds.length - FILTERS));
});

test('a filter whose variable is used for more than the filter is part of the deduplication key', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { deliveryUrl } = await urlOf(gateway);
  const query = `subscription ($chains: [ChainId!], $types: [WebhookType!]) {
    deliveries(filter: { chainIds: $chains, types: $types }) { cursor }
  }`;
  const byChains = [[1], [1, 2], [1, 3]].map((chains) => ({ query, variables: { chains } }));
  expect(await executionsFor(gateway, deliveryUrl, byChains)).toBe(2);
  await readersToBe(gateway.url, 0);
  const used = query.replace('{ cursor }', '{ cursor node { events(address: $address) { __typename } } }');
  const byAddresses = [1, 2, 3].map((last) => ({
    query: used.replace('$types:', '$address: Address, $types:'),
    variables: { chains: [1, last], address: `0x${String(last).padStart(40, '0')}` },
  }));
  expect(await executionsFor(gateway, deliveryUrl, byAddresses)).toBe(6);
});

test('a variable that is used for more than `after` is part of the deduplication key', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { deliveryUrl } = await urlOf(gateway);
  const query = `subscription ($a: String, $b: Boolean!) { deliveries(after: $a) { cursor @skip(if: $b) node { type } } }`;
  const subscribers = [true, false, true].map((b) => ({ query, variables: { b } }));
  expect(await executionsFor(gateway, deliveryUrl, subscribers)).toBe(4);
});

test('tokens of one tenant with the same scopes share; with other scopes they do not', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, ...byToken });
  const as = async (claims: object): Promise<Subscriber> => ({
    connectionParams: bearer(await tokenOf({ tenant: 'acme', ...claims })),
  });
  const { deliveryUrl } = await urlOf(gateway, bearer(await tokenOf({ tenant: 'acme' })));
  const same = [
    await as({ sub: 'one' }),
    await as({ sub: 'two' }),
    await as({ sub: 'two', scope: [...ALL.split(' ')].reverse() }),
  ];
  expect(await executionsFor(gateway, deliveryUrl, same)).toBe(2);
  await readersToBe(gateway.url, 0);
  expect(await executionsFor(gateway, deliveryUrl, [...same, await as({ scope: 'deliveries' })])).toBe(4);
});

test.each([
  ['key', byKey, async (tenant: string) => withKey(tenant)],
  ['jwt', byToken, async (tenant: string) => bearer(await tokenOf({ tenant }))],
] as const)('two tenants of AUTH=%s share nothing', async (_mode, env, credentialsOf) => {
  await using service = await startFakeService({ other: acceptingKeys });
  await using gateway = await startGateway({ UPSTREAM_URL: service.url, ...env });
  const received: string[] = [];
  await using clients = new AsyncDisposableStack();
  for (const tenant of ['one', 'two']) {
    const client = await openRawSocket(gateway.url, () => received.push(tenant), await credentialsOf(tenant));
    clients.use(client);
    client.write(subscribeMessage(DOCUMENT));
  }
  await readersToBe(gateway.url, 2);
  const { deliveryUrl } = await urlOf(gateway, await credentialsOf('one'));
  await deliver(deliveryUrl, { body: activity(1) });
  await deliver((await urlOf(gateway, await credentialsOf('two'))).deliveryUrl, { body: activity(1) });
  await eventually(() => received.length === 2);
  expect(received).toEqual(['one', 'two']);
  expect((await scrape(gateway.url)).sum('gateway_events_executed_total')).toBe(2);
});
