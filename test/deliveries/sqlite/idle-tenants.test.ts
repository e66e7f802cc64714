import { setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { sequenceIn } from '../../../src/deliveries/log/cursor.ts';
import { activity, deliver, deliveriesOf } from '../../support/clients/deliver.ts';
import { listenTo, subscribeMessage } from '../../support/clients/raw-socket.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { startGatewayProcess } from '../../support/gateway/process.ts';
import { countStatements } from '../../support/gateway/sqlite-statements.ts';
import { bearer, byToken, tokenOf } from '../../support/gateway/tokens.ts';
import { readersToBe } from '../../support/gateway/wait-for-readers.ts';
import { temporaryDirectory } from '../support/builders.ts';
import { storeMany } from '../support/stored.ts';

/** What thousands of idle tenants cost, in statements that SQLite runs. */

test('retention runs no statement for a tenant that has nothing to drop', async () => {
  const tenants = 4000;
  const dataDir = await temporaryDirectory();
  const statements = countStatements(await temporaryDirectory());
  using database = storeMany(dataDir, { tenants, each: 1 });
  database.exec(`
    UPDATE delivery SET received = 1 WHERE tenant = ${tenants};
    UPDATE tenant SET oldest = 1 WHERE id = ${tenants}`);
  const env = { ...byToken, ...statements.env, DATA_DIR: dataDir, DELIVERY_RETENTION_COUNT: '1' };
  await using shipped = await startGatewayProcess(env);
  const floors = database.prepare('SELECT id, floor FROM tenant WHERE floor > 0');
  const trimmedTo = (floor: number) =>
    vi.waitFor(() => expect(floors.all()).toEqual([{ id: tenants, floor }]), {
      timeout: 120_000,
      interval: 100,
    });
  // If retention visits all tenants, it visits this one last.
  await trimmedTo(1);

  const before = statements.asked();
  const { deliveryUrl } = await deliveriesOf(shipped.url, bearer(await tokenOf({ sub: `t${tenants}` })));
  for (const number of [1, 2]) expect(await deliver(deliveryUrl, { body: activity(number) })).toBe(200);
  await trimmedTo(2);
  expect(statements.asked()).toBeGreaterThan(before);
  expect(statements.asked() - before).toBeLessThan(tenants / 4);
});

test('opening a log runs no statement for each tenant', async () => {
  const tenants = 4000;
  const dataDir = await temporaryDirectory();
  storeMany(dataDir, { tenants, each: 1 }).close();
  const statements = countStatements(await temporaryDirectory());
  await using shipped = await startGatewayProcess({ ...byToken, ...statements.env, DATA_DIR: dataDir });
  const { head } = await deliveriesOf(shipped.url, bearer(await tokenOf({ sub: `t${tenants}` })));
  expect(sequenceIn(head)).toBe(1);
  expect(statements.asked()).toBeGreaterThan(0);
  expect(statements.asked()).toBeLessThan(tenants / 4);
});

/** Time for three polls, by which a subscriber finds deliveries that no callback announced. */
const IDLE_MS = 3500;

test('idle subscribers, each of another tenant, make the log run no statement', async () => {
  const tenants = 300;
  const statements = countStatements(await temporaryDirectory());
  await using shipped = await startGatewayProcess({ ...byToken, ...statements.env });
  await using sockets = new AsyncDisposableStack();
  const subscribers = await Promise.all(
    Array.from({ length: tenants }, async (_, tenant) => {
      const subscriber = await listenTo(shipped, bearer(await tokenOf({ sub: `t${tenant}` })));
      sockets.use(subscriber);
      subscriber.write(subscribeMessage('subscription { deliveries { node { payload } } }'));
      return subscriber;
    }),
  );
  await readersToBe(shipped.url, tenants);
  const before = statements.asked();
  await delay(IDLE_MS);
  expect(statements.asked() - before).toBeLessThan(tenants / 3);

  const { deliveryUrl } = await deliveriesOf(shipped.url, bearer(await tokenOf({ sub: 't7' })));
  expect(await deliver(deliveryUrl, { body: activity(1) })).toBe(200);
  await eventually(() => subscribers[7]?.received.length === 1);
  expect(statements.asked()).toBeGreaterThan(before);
  expect(subscribers.flatMap(({ received }) => received)).toHaveLength(1);
});
