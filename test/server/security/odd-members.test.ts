import { expect, test } from 'vitest';
import { deliver } from '../../support/clients/deliver.ts';
import { askInParts, mergeParts } from '../../support/clients/parts.ts';
import { eventually, subscribe } from '../../support/clients/subscribe.ts';
import { TRANSPORTS } from '../../support/clients/transports.ts';
import { startGateway } from '../../support/gateway/start.ts';
import {
  addressOf,
  collectible,
  collectiblesEnvelope,
  transaction,
  transactionsEnvelope,
} from '../../support/upstream/builders.ts';
import { startFakeService } from '../../support/upstream/fake-service.ts';
import { startManaged } from '../../webhooks/support/managed.ts';

/** JSON may have members of any name: no value from outside is taken for a promise, a class or a prototype. */

const READ_PATHS = ['fast', 'plain'] as const;
const wallet = addressOf(1);

/** Also `__proto__` is a member of its own. */
const ODD = JSON.parse(`{
  "__proto__": { "polluted": true }, "then": "later", "catch": [], "finally": {}, "constructor": { "prototype": 1 },
  "toJSON": "text", "valueOf": 0, "toString": null, "hasOwnProperty": false, "length": 1, "message": "", "errors": []
}`);
/** Text shows the order of members, and those that `toEqual` passes over. */
const text = (value: unknown) => JSON.stringify(value);

const startOdd = async (readPath: (typeof READ_PATHS)[number]) => {
  await using made = new AsyncDisposableStack();
  const inputs = [
    { name: 'then', type: 'constructor', value: ODD },
    { name: '__proto__', type: 'then', value: JSON.parse('{"then":{"then":1}}') },
    { name: 'list', type: 'tuple[]', value: [ODD] },
  ];
  const decoded = { ...ODD, name: 'constructor', inputs };
  const item = { ...ODD, ...transaction({ chain: 'constructor', decoded, logs: [] }) };
  const explanations = [
    { feature: 'constructor', value: ODD },
    { feature: '__proto__', value: JSON.parse('{"then":null}') },
  ];
  const entry = { ...ODD, ...collectible({ token_standard: 'toString', explanations, spam_score: 1 }) };
  const fake = made.use(
    await startFakeService({
      transactions: () => ({
        json: { ...ODD, ...transactionsEnvelope([item], { errors: ODD, warnings: [ODD] }) },
      }),
      collectibles: () => ({ json: { ...ODD, ...collectiblesEnvelope([entry]) } }),
    }),
  );
  const gateway = made.use(await startGateway({ UPSTREAM_URL: fake.url }, { readPath }));
  const running = made.move();
  return { gateway, explanations, inputs, [Symbol.asyncDispose]: () => running.disposeAsync() };
};

const LOOKUPS = `
  transactions {
    partialErrors
    nodes { chainId decoded { name inputs { name type value } } }
    edges { node { decoded { inputs { value } } } }
  }
  collectibles { nodes { tokenStandard tokenStandardName explanations { feature featureName value } } }`;

const answerOf = ({
  inputs,
  explanations,
}: Pick<Awaited<ReturnType<typeof startOdd>>, 'inputs' | 'explanations'>) => ({
  wallet: {
    transactions: {
      partialErrors: { errors: ODD, warnings: [ODD] },
      nodes: [{ chainId: null, decoded: { name: 'constructor', inputs } }],
      edges: [{ node: { decoded: { inputs: inputs.map(({ value }) => ({ value })) } } }],
    },
    collectibles: {
      nodes: [
        {
          tokenStandard: null,
          tokenStandardName: 'toString',
          explanations: explanations.map(({ feature, value }) => ({
            feature: null,
            featureName: feature,
            value,
          })),
        },
      ],
    },
  },
});

test.each(
  READ_PATHS.flatMap((readPath) => TRANSPORTS.map(([name, send]) => [readPath, name, send] as const)),
)('JSON of a lookup is passed on as it is, %s over %s', async (readPath, _name, send) => {
  await using odd = await startOdd(readPath);
  const { data, errors } = await send(odd.gateway.url, {
    query: `{ wallet(address: "${wallet}") { ${LOOKUPS} } }`,
  });
  expect(errors).toBeUndefined();
  expect(text(data)).toBe(text(answerOf(odd)));
});

test.each(READ_PATHS)('also in a part that comes later, %s', async (readPath) => {
  await using odd = await startOdd(readPath);
  const query = `{ wallet(address: "${wallet}") { ... @defer { ${LOOKUPS} } } }`;
  const answer = await askInParts(odd.gateway.url, { query });
  const parts = await answer.rest();
  expect(parts.length).toBeGreaterThan(1);
  expect(text(mergeParts(parts))).toBe(text(answerOf(odd)));
});

test.each(READ_PATHS)(
  'JSON of a delivery is passed on as it is, in a query and in an event, %s',
  async (readPath) => {
    await using odd = await startOdd(readPath);
    const { gateway } = odd;
    const activity = {
      ...ODD,
      chain_id: 1,
      block_number: 1,
      block_time: '2026-01-02T03:04:05+00:00',
      tx_hash: '0x01',
      type: 'call',
      from: wallet,
      function: ODD,
    };
    const bodies = [{ ...ODD, activities: [activity] }, [ODD], JSON.parse('{"then":{"then":1}}')];
    const fields = 'type payload events { __typename ... on Activity { function } }';
    const nodes = bodies.map((payload, index) => ({
      type: index === 0 ? 'ACTIVITIES' : null,
      payload,
      events: index === 0 ? [{ __typename: 'Activity', function: ODD }] : [],
    }));
    const { deliveryUrl, deliveries } = await gateway.data<{
      deliveryUrl: string;
      deliveries: { head: string };
    }>('{ deliveryUrl deliveries { head } }');
    await using reader = subscribe(gateway.url, {
      query: `subscription ($after: String) { deliveries(after: $after) { cursor node { ${fields} } } }`,
      after: deliveries.head,
    });
    for (const [index, body] of bodies.entries())
      expect(await deliver(deliveryUrl, { body, type: index === 0 ? 'activities' : 'constructor' })).toBe(
        200,
      );
    await eventually(
      () => reader.edges.length + reader.faults.length >= bodies.length,
      () => reader.faults,
    );
    expect(text(reader.edges.map(({ node }) => node))).toBe(text(nodes));
    const queried = await gateway.data(`{ deliveries { nodes { ${fields} } } }`);
    expect(text(queried)).toBe(text({ deliveries: { nodes } }));
  },
);

test.each(READ_PATHS)(
  'an alias may be `then`, or the name of a member of all objects, %s',
  async (readPath) => {
    await using odd = await startOdd(readPath);
    const { gateway } = odd;
    for (const name of ['then', '__proto__', 'constructor', 'toJSON', 'hasOwnProperty']) {
      const { data, errors } = await gateway.query(
        `fragment ${name} on Wallet { ${name}: address }
      { ${name}: wallet(address: "${wallet}") {
        ...${name}
        list: transactions { ${name}: nodes { ${name}: chain } edges { ${name}: node { ${name}: chain } } }
      } plain: wallet(address: "${wallet}") { ${name}: address } }`,
      );
      expect(errors).toBeUndefined();
      const list = `{"${name}":[{"${name}":"constructor"}],"edges":[{"${name}":{"${name}":"constructor"}}]}`;
      expect(text(data)).toBe(
        `{"${name}":{"${name}":"${wallet}","list":${list}},"plain":{"${name}":"${wallet}"}}`,
      );
    }
  },
);

test.each(READ_PATHS)('also in a mutation, whose fields are executed in turn, %s', async (readPath) => {
  await using managed = await startManaged({}, { readPath });
  const create = (name: string) =>
    `createWebhook(input: { name: "${name}", type: BALANCES, addresses: ["${wallet}"] }) { ... on CreateWebhookPayload { then: webhook { then: name } } }`;
  const { data, errors } = await managed.gateway.query(
    `mutation { then: ${create('a')} next: ${create('b')} }`,
  );
  expect(errors).toBeUndefined();
  expect(text(data)).toBe('{"then":{"then":{"then":"a"}},"next":{"then":{"then":"b"}}}');
});

test.each(READ_PATHS)(
  'a request may have members of any name among its variables and extensions, %s',
  async (readPath) => {
    await using odd = await startOdd(readPath);
    const { gateway } = odd;
    const variables = { ...ODD, constructor: 1, toJSON: wallet };
    const query =
      'query ($toJSON: Address!, $constructor: Int) { wallet(address: $toJSON) { transactions(first: $constructor) { nodes { chain } } } }';
    for (const [name, send] of TRANSPORTS) {
      const { data, errors } = await send(gateway.url, { query, variables, extensions: ODD });
      expect({ name, errors }).toEqual({ name, errors: undefined });
      expect(data).toEqual({ wallet: { transactions: { nodes: [{ chain: 'constructor' }] } } });
    }
    const { errors } = await gateway.post('{"then":1}');
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
  },
);
