import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { subscribe } from '../../support/clients/subscribe.ts';
import {
  codesOf,
  type Gateway,
  type GraphQLReply,
  startGateway,
  type Variables,
} from '../../support/gateway/start.ts';
import { addressOf } from '../../support/upstream/builders.ts';
import { type FakeWallets, startFakeWallets } from '../../support/upstream/wallets.ts';

/** A rejected operation sends no upstream request, whatever the reason and the transport. */

type Case = { why: string; query: string; variables?: Variables; code: string };

const transactions = (args: string) =>
  `{ wallet(address: "${addressOf(1)}") { transactions${args} { nodes { hash } } } }`;
const addresses = (count: number) => Array.from({ length: count }, (_, index) => addressOf(index));

const cases: Case[] = [
  { why: 'no GraphQL', query: '{ wallet(', code: 'GRAPHQL_PARSE_FAILED' },
  { why: 'an unknown field', query: '{ purse { id } }', code: 'GRAPHQL_VALIDATION_FAILED' },
  { why: 'an unknown argument', query: transactions('(last: 5)'), code: 'GRAPHQL_VALIDATION_FAILED' },
  {
    why: 'a variable that is no address, beside one that is',
    query: `query ($a: Address!, $b: Address!) {
      a: wallet(address: $a) { transactions { nodes { hash } } }
      b: wallet(address: $b) { transactions { nodes { hash } } }
    }`,
    variables: { a: addressOf(1), b: '0x12' },
    code: 'BAD_USER_INPUT',
  },
  { why: 'too many at once', query: transactions('(first: 1001)'), code: 'BAD_USER_INPUT' },
  { why: 'fewer than none', query: transactions('(first: -1)'), code: 'BAD_USER_INPUT' },
  { why: 'an unknown tag', query: transactions('(chainTags: ["../x"])'), code: 'BAD_USER_INPUT' },
  { why: 'a made-up cursor', query: transactions('(after: "0")'), code: 'INVALID_CURSOR' },
  {
    why: 'too many wallets',
    query: 'query ($all: [Address!]!) { wallets(addresses: $all) { transactions { nodes { hash } } } }',
    variables: { all: addresses(101) },
    code: 'OPERATION_TOO_COMPLEX',
  },
  {
    why: 'too many nodes',
    query: 'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Wallet { transactions { nodes { hash } } } } }',
    variables: { ids: addresses(101).map((address) => Buffer.from(`Wallet:${address}`).toString('base64')) },
    code: 'OPERATION_TOO_COMPLEX',
  },
  {
    why: 'too many compute units',
    query: 'query ($all: [Address!]!) { wallets(addresses: $all) { collectibles { nodes { name } } } }',
    variables: { all: addresses(8) },
    code: 'OPERATION_TOO_COMPLEX',
  },
  {
    why: 'more compute units than the client has',
    query: 'query ($all: [Address!]!) { wallets(addresses: $all) { transactions { nodes { hash } } } }',
    variables: { all: addresses(60) },
    code: 'COMPUTE_BUDGET_EXCEEDED',
  },
];

describe('no upstream request is sent for an operation that is rejected for', () => {
  let fake: FakeWallets;
  let gateway: Gateway;
  beforeAll(async () => {
    fake = await startFakeWallets();
    gateway = await startGateway({
      UPSTREAM_URL: fake.url,
      MAX_COMPUTE_UNITS: '100',
      CLIENT_COMPUTE_UNITS_PER_MINUTE: '50',
    });
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await fake[Symbol.asyncDispose]();
  });

  test.each(cases)('$why, over HTTP', async ({ query, variables, code }) => {
    const reply = await gateway.query(query, variables);
    expect(codesOf(reply)).toEqual([code]);
    expect(reply.extensions.upstream).toMatchObject({ requests: 0, computeUnits: 0, cached: 0 });
    expect(fake.requests).toEqual([]);
  });

  test.each(cases)('$why, over server-sent events', async ({ query, variables, code }) => {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query, variables }),
    });
    const [, data = '{}'] = /^data: (\{.*\})$/m.exec(await response.text()) ?? [];
    const reply: GraphQLReply = JSON.parse(data);
    expect(codesOf(reply)).toEqual([code]);
    expect(reply.extensions.upstream).toMatchObject({ requests: 0, computeUnits: 0, cached: 0 });
    expect(fake.requests).toEqual([]);
  });

  test.each(cases)('$why, over WebSocket', async ({ query, variables, code }) => {
    await using socket = subscribe(gateway.url, { query, ...(variables && { variables }) });
    await socket.ended;
    expect(codesOf({ errors: socket.faults })).toEqual([code]);
    expect(fake.requests).toEqual([]);
  });
});
