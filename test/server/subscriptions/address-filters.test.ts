import { expect, test } from 'vitest';
import { activity, deliverUntilStored } from '../../support/clients/deliver.ts';
import { type Edge, eventually, subscribe } from '../../support/clients/subscribe.ts';
import { describeEachInstallation, type Installation } from '../../support/gateway/installations.ts';
import { codesOf, type Gateway } from '../../support/gateway/start.ts';
import { addressOf } from '../../support/upstream/builders.ts';

const [ONE, TWO, THREE, NEVER] = [1, 2, 3, 4].map((number) => addressOf(0xa000 + number));
/** The token of each activity, which all deliveries concern. */
const TOKEN = '0x00000000000000000000000000000000000000cc';

const numberOf = ({ node }: Pick<Edge, 'node'>) =>
  (node.payload as ReturnType<typeof activity>).activities[0]?.block_number;

const NUMBERS = '{ edges { cursor node { payload } } pageInfo { hasNextPage endCursor } }';
type Page = { edges: Edge[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } };

/** Posts deliveries 1 to 6 of three wallets in turn, the last of all three together. */
const fill = async (gateways: Installation) => {
  const { deliveryUrl } = await gateways.any().data<{ deliveryUrl: string }>('{ deliveryUrl }');
  for (const [index, address] of [ONE, TWO, THREE, ONE, TWO].entries())
    await deliverUntilStored(deliveryUrl, { body: activity(index + 1, address) });
  const activities = [ONE, TWO, THREE].flatMap((address) => activity(6, address).activities);
  await deliverUntilStored(deliveryUrl, { body: { activities } });
  return deliveryUrl;
};

const numbersBy = async (gateway: Gateway, filter: object) => {
  const { deliveries } = await gateway.data<{ deliveries: Page }>(
    `query ($filter: DeliveryFilter) { deliveries(first: 10, filter: $filter) ${NUMBERS} }`,
    { filter },
  );
  return deliveries.edges.map(numberOf);
};

describeEachInstallation((install) => {
  test('deliveries by any of several addresses, each once, stored and arriving', async () => {
    await using gateways = await install();
    const { deliveries } = await gateways
      .any()
      .data<{ deliveries: { head: string } }>('{ deliveries { head } }');
    const filter = { addresses: [ONE, NEVER, THREE] };
    const replay = { after: deliveries.head, filter };
    await using subscription = subscribe(gateways.any().url, replay);
    await fill(gateways);
    const gateway = gateways.any();
    expect(await numbersBy(gateway, filter)).toEqual([1, 3, 4, 6]);
    expect(await numbersBy(gateway, { addresses: [ONE, ONE] })).toEqual([1, 4, 6]);
    expect(await numbersBy(gateway, { addresses: [TWO], address: ONE })).toEqual([6]);
    expect(await numbersBy(gateway, { addresses: [TOKEN], address: TWO })).toEqual([2, 5, 6]);
    expect(await numbersBy(gateway, { addresses: [NEVER] })).toEqual([]);
    expect(await numbersBy(gateway, { addresses: [] })).toEqual([]);
    expect(await numbersBy(gateway, { addresses: null })).toEqual([1, 2, 3, 4, 5, 6]);
    await eventually(() => subscription.edges.length >= 4);
    await using late = subscribe(gateway.url, replay);
    await eventually(() => late.edges.length >= 4);
    for (const { edges } of [subscription, late]) expect(edges.map(numberOf)).toEqual([1, 3, 4, 6]);
  });

  test("a wallet's deliveries, by pages and under a filter", async () => {
    await using gateways = await install();
    await fill(gateways);
    const read = (args: string) =>
      gateways
        .any()
        .data<{ wallet: { deliveries: Page } }>(
          `{ wallet(address: "${ONE}") { deliveries(${args}) ${NUMBERS} } }`,
        )
        .then(({ wallet }) => wallet.deliveries);
    const first = await read('first: 2');
    expect(first.edges.map(numberOf)).toEqual([1, 4]);
    expect(first.pageInfo.hasNextPage).toBe(true);
    const rest = await read(`first: 2, after: "${first.pageInfo.endCursor}"`);
    expect(rest.edges.map(numberOf)).toEqual([6]);
    expect(rest.pageInfo.hasNextPage).toBe(false);
    expect((await read('last: 1')).edges.map(numberOf)).toEqual([6]);
    expect((await read(`filter: { address: "${TWO}" }`)).edges.map(numberOf)).toEqual([6]);
    expect((await read('filter: { chainIds: [10] }')).edges).toEqual([]);
  });

  test('more than a hundred addresses are refused', async () => {
    await using gateways = await install();
    const addresses = Array.from({ length: 101 }, (_, index) => addressOf(index + 1));
    const reply = await gateways
      .any()
      .query('query ($filter: DeliveryFilter) { deliveries(filter: $filter) { head } }', {
        filter: { addresses },
      });
    expect(codesOf(reply)).toEqual(['OPERATION_TOO_COMPLEX']);
    expect(reply.errors?.[0]?.message).toContain('at most 100 addresses in a filter, got 101');
  });
});
