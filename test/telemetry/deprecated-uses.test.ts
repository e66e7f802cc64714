import { isEnumType, isInputObjectType, isObjectType } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { schema } from '../../src/schema.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { type Gateway, nowhere, startGateway } from '../support/gateway/start.ts';

/** Who still uses what is deprecated, and what that is. Nothing in the schema is at present, so some of it is here. */

const fieldsOf = (name: string) => {
  const type = schema.getType(name);
  return isObjectType(type) ? type.getFields() : expect.fail(name);
};

const deprecate = (
  ...things: ({ deprecationReason?: string | null | undefined } | null | undefined)[]
): void => {
  for (const thing of things) if (thing) thing.deprecationReason = 'No longer supported.';
};

let gateway: Gateway;
beforeAll(async () => {
  const input = schema.getType('DeliveryFilter');
  const type = schema.getType('WebhookType');
  if (!isInputObjectType(input) || !isEnumType(type)) throw new TypeError('Expected other types.');
  deprecate(
    fieldsOf('Wallet').address,
    fieldsOf('Query').deliveries?.args.find(({ name }) => name === 'first'),
    input.getFields().types,
    type.getValue('BALANCES'),
  );
  gateway = await startGateway({ UPSTREAM_URL: nowhere, CLIENT_NAMES: 'web' });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const A = '0x0000000000000000000000000000000000000001';

const counted = async (client: string): Promise<Record<string, number>> =>
  Object.fromEntries(
    [...(await scrape(gateway.url)).series].flatMap(([key, value]) => {
      const [, coordinate, of] =
        /^gateway_deprecated_uses_total\{coordinate="([^"]+)",client="(\w+)"\}/.exec(key) ?? [];
      return coordinate !== undefined && of === client ? [[coordinate, value]] : [];
    }),
  );

test('each operation counts once for each deprecated coordinate, by client', async () => {
  const web = { 'graphql-client-name': 'web' };
  const twice = `query ($a: Address!) { one: wallet(address: $a) { ...W address } two: wallet(address: $a) { id ...W } } fragment W on Wallet { address }`;
  for (let times = 0; times < 3; times += 1) await gateway.query(twice, { a: A }, web);
  await gateway.query('{ deliveries(first: 0, filter: { types: [BALANCES, ACTIVITIES] }) { head } }');
  const filtered = 'query ($filter: DeliveryFilter) { deliveries(filter: $filter) { head } }';
  await gateway.query(filtered, { filter: { types: ['BALANCES'] } });
  await gateway.query(filtered, { filter: { types: ['ACTIVITIES'] } });
  await gateway.query(filtered, {});
  await gateway.query('{ wallet(address: 7) { address } }');
  await gateway.query(`{ wallet(address: "${A}") { id } }`);
  expect(await counted('web')).toEqual({ 'Wallet.address': 3 });
  expect(await counted('other')).toEqual({
    'Query.deliveries(first:)': 1,
    'DeliveryFilter.types': 3,
    'WebhookType.BALANCES': 2,
  });
});

test('of a document with several operations, only the one that runs counts', async () => {
  const text = `query Old { wallet(address: "${A}") { address } } query New { wallet(address: "${A}") { id } }`;
  const before = await counted('other');
  await gateway.post(JSON.stringify({ query: text, operationName: 'New' }));
  expect(await counted('other')).toEqual(before);
  await gateway.post(JSON.stringify({ query: text, operationName: 'Old' }));
  expect(await counted('other')).toEqual({ ...before, 'Wallet.address': 1 });
});
