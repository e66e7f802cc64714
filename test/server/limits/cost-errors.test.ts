import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TRANSPORTS } from '../../support/clients/transports.ts';
import { codesOf, type Gateway, type GraphQLReply, startGateway } from '../../support/gateway/start.ts';
import { byToken } from '../../support/gateway/tokens.ts';
import { addressOf } from '../../support/upstream/builders.ts';
import { type FakeWallets, startFakeWallets } from '../../support/upstream/wallets.ts';

/** An error says what was expected, what came, and what to change: a setting, a field, an argument, a location. */

let fake: FakeWallets;
let gateway: Gateway;
beforeAll(async () => {
  fake = await startFakeWallets();
  gateway = await startGateway({ UPSTREAM_URL: fake.url });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await fake[Symbol.asyncDispose]();
});

const refusalOf = ({ errors }: Pick<GraphQLReply, 'errors'>) =>
  (errors ?? [])[0] as unknown as {
    message: string;
    locations?: object[];
    extensions: Record<string, unknown>;
  };

describe('the error of an operation that may cost too much', () => {
  const all = Array.from({ length: 40 }, (_, index) => addressOf(index + 1));
  const dashboard = `query ($all: [Address!]!, $chains: [ChainId!]) {
    mine: wallets(addresses: $all) {
      transactions(first: 200) { nodes { hash } }
      tokens: collectibles(chainIds: $chains) { nodes { tokenId } }
    }
  }`;

  test('names the setting, the costliest field by its path, its cost, and chainIds', async () => {
    const { message, extensions } = refusalOf(await gateway.query(dashboard, { all }));
    expect(extensions).toMatchObject({
      code: 'OPERATION_TOO_COMPLEX',
      estimatedComputeUnits: 640,
      allowedComputeUnits: 500,
      dearestField: { path: 'mine.tokens', computeUnits: 560 },
    });
    expect(message).toMatch(/500.*640.*MAX_COMPUTE_UNITS.*mine\.tokens.*560/);
    expect(message).toContain('chainIds');
    expect(fake.requests).toEqual([]);
  });

  test('does not name chainIds where they do not matter', async () => {
    const document = `query ($all: [Address!]!) {
      wallets(addresses: $all) { transactions(first: 1000) { nodes { hash } } }
    }`;
    const many = [...all, ...Array.from({ length: 20 }, (_, index) => addressOf(index + 100))];
    const { message, extensions } = refusalOf(await gateway.query(document, { all: many }));
    expect(extensions.dearestField).toEqual({ path: 'wallets.transactions', computeUnits: 600 });
    expect(message).toContain('first');
    expect(message).not.toContain('chainIds');
  });

  test('has advice that works: the changed operation runs', async () => {
    const chains = [1, 10];
    expect((await gateway.query(dashboard, { all, chains })).errors).toBeUndefined();
    fake.requests.length = 0;
  });

  test.each([
    [
      'a market of each event',
      'events { ... on Activity { token { market { priceUsd } } } }',
      'deliveries.nodes.events.token.market',
      'Query.tokens',
    ],
    [
      'the holders of each token of an event',
      'events { ... on Activity { token { holders { nodes { balance } } } } }',
      'deliveries.nodes.events.token.holders',
      'Query.tokens',
    ],
  ])('of %s says what it may cost, and names the cheaper way', async (_what, selection, path, way) => {
    const { message, extensions } = refusalOf(
      await gateway.query(`{ deliveries(first: 1) { nodes { ${selection} } } }`),
    );
    expect(extensions).toMatchObject({
      code: 'OPERATION_TOO_COMPLEX',
      dearestField: { path, computeUnits: 20_000 },
    });
    expect(message).toContain(way);
  });

  test.each([
    ['a portfolio', 'portfolio', '{ totalUsd }', ''],
    ['filtered balances', 'balances', '{ nodes { amount } }', 'minPoolSizeUsd: "1"'],
  ])(
    'of %s counts five pages, and its advice works: fewer chains',
    async (_what, field, selection, filter) => {
      const ask = (args: string) =>
        gateway.query(
          `query ($all: [Address!]!) { wallets(addresses: $all) { ${field}(${filter} ${args}) ${selection} } }`,
          { all: all.slice(0, 8) },
        );
      const { message, extensions } = refusalOf(await ask('chainTags: ["default"]'));
      expect(extensions.dearestField).toEqual({ path: `wallets.${field}`, computeUnits: 8 * 14 * 5 });
      expect(message).toMatch(/up to five times|at most five times/);
      expect(message).toContain('chainIds');
      expect((await ask('chainIds: [1, 8453]')).errors).toBeUndefined();
      fake.requests.length = 0;
    },
  );

  test('names the same for a budget', async () => {
    await using thrifty = await startGateway({
      UPSTREAM_URL: fake.url,
      CLIENT_COMPUTE_UNITS_PER_MINUTE: '50',
    });
    const { message, extensions } = refusalOf(await thrifty.query(dashboard, { all: all.slice(0, 4) }));
    expect(extensions).toMatchObject({
      code: 'COMPUTE_BUDGET_EXCEEDED',
      dearestField: { path: 'mine.tokens', computeUnits: 56 },
    });
    expect(message).toMatch(/CLIENT_COMPUTE_UNITS_PER_MINUTE.*mine\.tokens.*chainIds/);
    expect(fake.requests).toEqual([]);
  });
});

describe('the error of an invalid literal has its location', () => {
  const cases: [type: string, document: string, literal: string][] = [
    ['Address', '{ wallet(address: "0x12") { id } }', '"0x12"'],
    ['Address in a list', '{ wallets(addresses: ["0x12"]) { id } }', '"0x12"'],
    [
      'ChainId',
      `{ wallet(address: "${addressOf(1)}") { transactions(chainIds: [1, 1.5]) { nodes { hash } } } }`,
      '1.5',
    ],
    [
      'ChainId as a default',
      'query ($c: [ChainId!] = ["x"]) { deliveries(filter: { chainIds: $c }) { head } }',
      '"x"',
    ],
    ['UUID', '{ webhook(webhookId: "x") { name } }', '"x"'],
    ['UUID in an input object', '{ deliveries(filter: { webhookIds: ["x"] }) { head } }', '"x"'],
    [
      'URL in an input object',
      'mutation { createWebhook(input: { name: "x", type: ACTIVITIES, url: "ftp://x", addresses: [] }) { __typename } }',
      '"ftp://x"',
    ],
    ['an enum', '{ deliveries(filter: { types: [NONE] }) { head } }', 'NONE'],
    ['an input object', '{ deliveries(filter: { nothing: 1 }) { head } }', 'nothing'],
    ['Int', '{ deliveries(last: "x") { head } }', '"x"'],
    ['ID', '{ node(id: 1.5) { id } }', '1.5'],
  ];

  test.each(cases)('%s', async (_type, document, literal) => {
    const { locations } = refusalOf(await gateway.query(document));
    const column = document.indexOf(literal) + 1;
    expect(locations).toEqual([{ line: 1, column }]);
  });

  test('the error of an invalid variable as well', async () => {
    const document = 'query ($address: Address!) { wallet(address: $address) { id } }';
    const reply = await gateway.query(document, { address: '0x12' });
    expect(refusalOf(reply).locations).toEqual([{ line: 1, column: 8 }]);
    expect(codesOf(reply)).toEqual(['BAD_USER_INPUT']);
  });
});

describe.each(TRANSPORTS)('over %s', (_transport, send) => {
  test.each<[what: string, authorization: string, said: RegExp]>([
    ['a token without Bearer', 'eyJhbGciOiJIUzI1NiJ9.e30.c2VjcmV0', /without Bearer/],
    ['another scheme', 'Basic c2VjcmV0OnNlY3JldA==', /without Bearer/],
    ['Bearer without a token', 'Bearer', /Bearer without a token/],
    ['Bearer and two words', 'Bearer c2VjcmV0 c2VjcmV0', /more than one/],
  ])('%s is named in the error, which repeats no part of it', async (_what, authorization, said) => {
    await using closed = await startGateway({ UPSTREAM_URL: fake.url, ...byToken });
    const reply = await send(closed.url, { query: '{ deliveryUrl }' }, { authorization });
    expect(codesOf(reply)).toEqual(['UNAUTHENTICATED']);
    const { message } = refusalOf(reply);
    expect(message).toMatch(said);
    expect(message).toContain('connectionParams.authorization');
    expect(JSON.stringify(reply)).not.toMatch(/c2VjcmV0|eyJ/);
  });
});
