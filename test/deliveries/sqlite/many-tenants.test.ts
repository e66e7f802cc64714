import { expect, test, vi } from 'vitest';
import { startGatewayProcess } from '../../support/gateway/process.ts';
import { nowhere, startGateway } from '../../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../../support/gateway/tokens.ts';
import { address, temporaryDirectory } from '../support/builders.ts';
import { storeMany } from '../support/stored.ts';

const TENANTS = 4000;
const EACH = 80;

type Page = { deliveries: { nodes: { payload: { number: number } }[] } };

const numbersIn = ({ deliveries }: Page) => deliveries.nodes.map(({ payload }) => payload.number);

const asTenant = async (tenant: number) => bearer(await tokenOf({ sub: `t${tenant}` }));

test('a log with thousands of tenants opens in little memory, and works', async () => {
  const dataDir = await temporaryDirectory();
  storeMany(dataDir, { tenants: TENANTS, each: EACH }).close();

  const env = { ...byToken, DATA_DIR: dataDir, NODE_OPTIONS: LITTLE };
  await using shipped = await startGatewayProcess(env);
  expect(await shipped.megabytes()).toBeLessThan(MOST_MB);
  const tenant = await asTenant(TENANTS);
  const ask = <Data>(query: string) => shipped.data<Data>(query, {}, tenant);
  expect(
    numbersIn(await ask(`{ deliveries(filter: { address: "${address(7)}" }) { nodes { payload } } }`)),
  ).toEqual([7]);
  const { deliveryUrl } = await ask<{ deliveryUrl: string }>('{ deliveryUrl }');
  const post = async (sent: string, chain: number) =>
    (
      await fetch(deliveryUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-webhook-chain-id': String(chain) },
        body: sent,
      })
    ).json();
  expect(await post('{"number":3}', 4)).toEqual({ duplicate: true });
  expect(await post('{"number":81}', 2)).toEqual({ duplicate: false });
  expect(numbersIn(await ask('{ deliveries(last: 2) { nodes { payload } } }'))).toEqual([80, 81]);
});

/** The heap of each thread. The identities of 320,000 deliveries would need more. */
const LITTLE = '--max-old-space-size=96';

/** The process of an empty log has 250 MB. With all identities in memory, it had 480 MB. */
const MOST_MB = 400;

test('retention trims thousands of tenants with too many or too old deliveries, and no others', async () => {
  const dataDir = await temporaryDirectory();
  const database = storeMany(dataDir, { tenants: 3000, each: 12 });
  // One third of the tenants has old deliveries, one third has neither old ones nor too many.
  database.exec(`
    UPDATE delivery SET received = 1 WHERE tenant % 3 = 0 AND sequence <= 4;
    UPDATE tenant SET oldest = 1 WHERE id % 3 = 0;
    DELETE FROM delivery WHERE tenant % 3 = 1 AND sequence > 8;
    UPDATE tenant SET head = 8 WHERE id % 3 = 1`);
  const left = database.prepare(
    'SELECT id % 3 AS kind, min(head - floor) AS least, max(head - floor) AS most FROM tenant GROUP BY kind',
  );
  const env = { UPSTREAM_URL: nowhere, DATA_DIR: dataDir, DELIVERY_RETENTION_COUNT: '10' };
  await using gateway = await startGateway(env);
  await vi.waitFor(
    () =>
      expect(left.all()).toEqual([
        { kind: 0, least: 8, most: 8 },
        { kind: 1, least: 8, most: 8 },
        { kind: 2, least: 10, most: 10 },
      ]),
    { timeout: 120_000, interval: 200 },
  );
  const health = await fetch(`${gateway.url}/health/ready`);
  expect(health.status).toBe(200);
  database.close();
});
