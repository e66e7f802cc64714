import { expect, test } from 'vitest';
import { createDeliveryUrls } from '../../../src/deliveries/ingress/delivery-url.ts';
import { UnstorableError } from '../../../src/deliveries/log/errors.ts';
import type { NewDelivery } from '../../../src/deliveries/log/log.ts';
import { activity, deliver } from '../../support/clients/deliver.ts';
import { eventually, subscribe } from '../../support/clients/subscribe.ts';
import { nowhere, startGateway } from '../../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../../support/gateway/tokens.ts';
import {
  appendNumbers,
  delivery,
  numberOf,
  openLog,
  range,
  readAll,
  temporaryDirectory,
} from '../support/builders.ts';
import { changeFile, storeMany } from '../support/stored.ts';

/** Every tenant can store, however many there are. A delivery that can't be stored is refused alone. */

const secret = 'signs-the-urls-of-these-tests-0f3a';

/** A log that has had this many tenants. */
const folderWith = async (tenants: number): Promise<string> => {
  const dataDir = await temporaryDirectory();
  const log = await openLog({ dataDir });
  await appendNumbers(log, [1]);
  await log.close();
  changeFile(dataDir, `INSERT INTO tenant (id, name) VALUES (${tenants}, 'the last of them')`);
  return dataDir;
};

const urlOf = (gateway: string, tenant: string): string => createDeliveryUrls(secret).urlOf(gateway, tenant);

const DELIVERIES = `query ($after: String) {
  deliveries(after: $after, filter: { chainIds: [1] }) { head edges { cursor node { payload } } }
}`;

type Deliveries = { deliveries: { head: string; edges: { cursor: string; node: { payload: unknown } }[] } };

test('tenants from 8,192 on store, read, subscribe and are trimmed as those before', async () => {
  const dataDir = await folderWith(8189);
  const env = { ...byToken, UPSTREAM_URL: nowhere, DELIVERY_SECRET: secret, DATA_DIR: dataDir };
  await using gateway = await startGateway({ ...env, DELIVERY_RETENTION_COUNT: '3' });
  const tenants = range(8190, 8196).map((id) => `tenant-${id}`);
  for (const number of [1, 2, 3, 4]) {
    const statuses = await Promise.all(
      tenants.map((tenant) => deliver(urlOf(gateway.url, tenant), { body: activity(number) })),
    );
    expect(statuses).toEqual(tenants.map(() => 200));
  }
  for (const tenant of tenants) {
    const authorizationKey = bearer(await tokenOf({ sub: tenant }));
    const numbers = async () => {
      const { deliveries } = await gateway.data<Deliveries>(DELIVERIES, {}, authorizationKey);
      return deliveries.edges.map(({ node }) => node.payload);
    };
    await expect.poll(numbers).toEqual([2, 3, 4].map((number) => activity(number)));
    const { deliveries } = await gateway.data<Deliveries>(DELIVERIES, {}, authorizationKey);
    const after = deliveries.edges[1]?.cursor ?? '';
    const rest = await gateway.data<Deliveries>(DELIVERIES, { after }, authorizationKey);
    expect(rest.deliveries.edges).toEqual(deliveries.edges.slice(2));
    await using dashboard = subscribe(gateway.url, { after, connectionParams: authorizationKey });
    await eventually(() => dashboard.edges.length > 0);
    expect(dashboard.edges[0]?.node.payload).toEqual(activity(4));
  }
});

test('a log of 100,000 tenants stores and reads for each of them', async () => {
  const dataDir = await temporaryDirectory();
  storeMany(dataDir, { tenants: 100_000, each: 1, receivedAt: 1_000_000 }).close();
  const log = await openLog({ dataDir });
  const before = await log.head('t99999');
  for (const id of [2, 8191, 8192, 50_000, 100_000, 100_001]) {
    const tenant = `t${id}`;
    const start = await log.head(tenant);
    const [stored, repeated] = await log.append([delivery(2, { tenant }), delivery(2, { tenant })]);
    expect(repeated).toEqual({ ...stored, duplicate: true });
    expect((await log.read(tenant, { after: start, limit: 10 })).deliveries.map(numberOf)).toEqual([2]);
    expect(await log.get(tenant, stored?.cursor ?? '')).toMatchObject({ tenant });
  }
  expect(await log.head('t99999')).toBe(before);
  const { deliveries } = await log.read('t99999', { limit: 10 });
  expect(deliveries).toMatchObject([{ sequence: 1, cursor: before }]);
});

test('there is room for 8,388,607 tenants: one more is refused, alone', async () => {
  const log = await openLog({ dataDir: await folderWith(8_388_606) });
  const last = log.append([delivery(1, { tenant: 'the last' })]);
  const tooMany = log.append([delivery(1, { tenant: 'one too many' })]);
  const known = log.append([delivery(2)]);
  await expect(tooMany).rejects.toThrow(UnstorableError);
  expect(await last).toMatchObject([{ sequence: 1, duplicate: false }]);
  expect(await known).toMatchObject([{ sequence: 2, duplicate: false }]);
  expect((await log.read('the last', { limit: 10 })).deliveries.map(numberOf)).toEqual([1]);
});

/** Values that no column of the log accepts. */
const UNSTORABLE: [what: string, changes: Partial<NewDelivery>][] = [
  ['a chain that is no integer', { chainId: 1.5 }],
  ['a time that is no integer', { receivedAt: Number.POSITIVE_INFINITY }],
  ['an attempt beyond 64 bits', { attempt: 2 ** 70 }],
];

test.each(UNSTORABLE)(
  'a delivery with %s is refused alone, of all that are committed together',
  async (_what, changes) => {
    const log = await openLog();
    const answers = await Promise.allSettled([
      log.append([delivery(1)]),
      log.append([delivery(2, changes)]),
      log.append([delivery(3), delivery(4)]),
      log.append([delivery(2, { ...changes, tenant: 'other' })]),
      log.append([delivery(5, { tenant: 'other' })]),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect((await readAll(log)).map(numberOf)).toEqual([1, 3, 4]);
    expect((await readAll(log)).map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    // The refused delivery left no identity behind: it is no duplicate when it is sent again.
    expect(await log.append([delivery(2)])).toMatchObject([{ sequence: 4, duplicate: false }]);
  },
);

test('only the tenant whose log contradicts itself gets 503, with one log line a delivery', async () => {
  const dataDir = await temporaryDirectory();
  const env = { ...byToken, UPSTREAM_URL: nowhere, DELIVERY_SECRET: secret, DATA_DIR: dataDir };
  await using gateway = await startGateway(env);
  const [ill, well] = [urlOf(gateway.url, 'ill'), urlOf(gateway.url, 'well')];
  for (const number of [1, 2]) expect(await deliver(ill, { body: activity(number) })).toBe(200);
  changeFile(dataDir, "UPDATE tenant SET head = 1 WHERE name = 'ill'");

  const statuses = await Promise.all(
    range(3, 22).map((number) => deliver(number % 10 === 0 ? ill : well, { body: activity(number) })),
  );
  expect(statuses).toEqual(range(3, 22).map((number) => (number % 10 === 0 ? 503 : 200)));
  const authorizationKey = bearer(await tokenOf({ sub: 'well' }));
  expect((await gateway.data<Deliveries>(DELIVERIES, {}, authorizationKey)).deliveries.edges).toHaveLength(
    18,
  );
  const logged = gateway.logLines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error');
  expect(logged.map(({ msg }) => msg)).toEqual([
    'delivery log: a delivery cannot be stored',
    'delivery log: a delivery cannot be stored',
  ]);
});
