import { expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { DEMO_WEBHOOKS, type Sandbox, startSandbox } from '../../src/backend/sandbox/sandbox.ts';
import { graphiqlOptions } from '../../src/server/browsers/graphiql.ts';
import { eventually, subscribe } from '../support/clients/subscribe.ts';
import { type Gateway, type GraphQLReply, startGateway } from '../support/gateway/start.ts';

/** The gateway over the sandbox as one whole: what a newcomer does in the first minutes. */

const TRANSACTIONS_PAGE = `query ($address: Address!, $first: Int, $after: String) {
  wallet(address: $address) {
    transactions(first: $first, after: $after) {
      nodes { id hash chain blockTime }
      pageInfo { hasNextPage endCursor }
    }
  }
}`;

type Page = {
  wallet: {
    transactions: {
      nodes: { id: string; hash: string; chain: string; blockTime: string }[];
      pageInfo: { hasNextPage: boolean; endCursor: string };
    };
  };
};

const startBoth = async (env: Record<string, string> = {}) => {
  const sandbox = await startSandbox();
  const gateway = await startGateway({ UPSTREAM_URL: sandbox.url, UPSTREAM_API_KEY: sandbox.apiKey, ...env });
  return {
    sandbox,
    gateway,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await sandbox.stop();
    },
  };
};

/** Points a demo webhook here and gives it. */
const connect = async (gateway: Gateway, webhookId: string | undefined) => {
  const { connectWebhook } = await gateway.data<{ connectWebhook: { webhook: { deliversHere: boolean } } }>(
    `mutation ($webhookId: UUID!) {
      connectWebhook(input: { webhookId: $webhookId }) {
        ... on ConnectWebhookPayload { webhook { deliversHere } }
        ... on WebhookError { code message }
      }
    }`,
    { webhookId },
  );
  expect(connectWebhook.webhook.deliversHere).toBe(true);
};

const update = (gateway: Gateway, input: object) =>
  gateway.data<{ updateWebhook: unknown }>(
    `mutation ($input: UpdateWebhookInput!) {
      updateWebhook(input: $input) {
        ... on UpdateWebhookPayload { webhook { active transactionType counterparty chainIds } }
        ... on WebhookError { code message }
      }
    }`,
    { input },
  );

const idOf = (type: string) => DEMO_WEBHOOKS.find((webhook) => webhook.type === type)?.id;

test('ten pages of ten cost one upstream request, by the gateway and by the service', async () => {
  await using both = await startBoth();
  const { gateway, sandbox } = both;
  let after: string | null = null;
  let requests = 0;
  for (let page = 0; page < 10; page += 1) {
    const reply: GraphQLReply<Page> = await gateway.query(TRANSACTIONS_PAGE, {
      address: demoAddress('whale'),
      first: 10,
      after,
    });
    requests += reply.extensions.upstream.requests;
    after = reply.data?.wallet.transactions.pageInfo.endCursor ?? null;
  }
  expect(requests).toBe(1);
  expect(sandbox.stats().requests).toEqual({ 'GET /v1/evm/transactions/{address}': 1 });
  expect(sandbox.stats().computeUnits).toBe(1);
});

test('the whale, paged by 7 to its end while blocks go on, gives all that was there at the start once', async () => {
  await using both = await startBoth({ CACHE_TAIL_MS: '0', CACHE_HEAD_MS: '0' });
  const { gateway, sandbox } = both;
  const address = demoAddress('whale');
  const { all } = await everything(gateway, address, 1000);
  expect(all.length).toBeGreaterThan(5000);
  expect(new Set(all.map(({ chain }) => chain)).size).toBeGreaterThan(6);
  const { all: paged, pages } = await everything(gateway, address, 7, sandbox);
  expect(pages).toBeGreaterThan(700);
  const ids = paged.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => all.some((each) => each.id === id))).toEqual(all.map(({ id }) => id));
});

/** Walks to the end; with a sandbox, every few pages each live chain has a new block. */
const everything = async (gateway: Gateway, address: string, first: number, growing?: Sandbox) => {
  const all: Page['wallet']['transactions']['nodes'] = [];
  let after: string | null = null;
  let pages = 0;
  for (;;) {
    const { wallet }: Page = await gateway.data<Page>(TRANSACTIONS_PAGE, { address, first, after });
    all.push(...wallet.transactions.nodes);
    pages += 1;
    if (pages % 50 === 0) growing?.tick();
    if (!wallet.transactions.pageInfo.hasNextPage) return { all, pages };
    after = wallet.transactions.pageInfo.endCursor;
  }
};

test('events of each type arrive typed, and match what the service then says of the wallet', async () => {
  await using both = await startBoth();
  const { gateway, sandbox } = both;
  for (const { id } of DEMO_WEBHOOKS) await connect(gateway, id);
  await using dashboard = subscribe(gateway.url, {
    query: `subscription {
      deliveries {
        cursor
        node {
          type
          chainId
          events {
            __typename
            ... on TransactionEvent { transaction { hash direction success decoded { name } } }
            ... on Activity { type typeName transactionHash value }
            ... on BalanceChange { subscribedAddress direction amountBefore amountAfter amountDelta }
          }
        }
      }
    }`,
  });
  await dashboard.opened;
  type Event = Record<string, string> & { __typename: string; transaction?: Record<string, unknown> };
  const events = () => dashboard.edges.flatMap(({ node }) => node.events as Event[]);
  const has = (typename: string) => events().some(({ __typename }) => __typename === typename);
  const sent = () => events().find(({ transaction }) => transaction?.direction === 'SENDER')?.transaction;
  await eventually(() => {
    sandbox.tick();
    return sent() !== undefined && has('Activity') && has('BalanceChange');
  });
  const change = events().find(({ __typename }) => __typename === 'BalanceChange');
  expect(BigInt(change?.amountAfter ?? '') - BigInt(change?.amountBefore ?? '')).toBe(
    BigInt(change?.amountDelta ?? ''),
  );
  expect(sent()).toMatchObject({
    hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    success: expect.any(Boolean),
  });
});

test('active: false stops the deliveries of the service, true resumes them', async () => {
  await using both = await startBoth();
  const { gateway, sandbox } = both;
  const webhookId = idOf('transactions');
  await connect(gateway, webhookId);
  const { head } = (await gateway.data<{ deliveries: { head: string } }>('{ deliveries { head } }'))
    .deliveries;
  await using dashboard = subscribe(gateway.url, { after: head });
  const deliveriesOfTicks = async (ticks: number) => {
    const before = dashboard.edges.length;
    for (let tick = 0; tick < ticks; tick += 1) sandbox.tick();
    await sandbox.webhooks.settled();
    const { deliveries } = await gateway.data<{ deliveries: { edges: unknown[] } }>(
      '{ deliveries(last: 1000) { edges { cursor } } }',
    );
    await eventually(() => dashboard.edges.length === deliveries.edges.length);
    return dashboard.edges.length - before;
  };
  expect(await deliveriesOfTicks(3)).toBeGreaterThan(0);
  expect((await update(gateway, { webhookId, active: false })).updateWebhook).toMatchObject({
    webhook: { active: false },
  });
  expect(await deliveriesOfTicks(3)).toBe(0);
  expect((await update(gateway, { webhookId, active: true })).updateWebhook).toMatchObject({
    webhook: { active: true },
  });
  expect(await deliveriesOfTicks(3)).toBeGreaterThan(0);
});

test("a filter of another type's comes back as TYPE_MISMATCH with the service's sentence", async () => {
  await using both = await startBoth();
  const { updateWebhook } = await update(both.gateway, {
    webhookId: idOf('balances'),
    transactionType: 'SENDER',
  });
  expect(updateWebhook).toEqual({
    code: 'TYPE_MISMATCH',
    message: 'Webhook type balances cannot have transaction_type',
  });
});

test('a field left out is unchanged, and one given as null is cleared', async () => {
  await using both = await startBoth();
  const webhookId = idOf('transactions');
  const counterparty = '0x00000000000000000000000000000000000000ff';
  await update(both.gateway, { webhookId, counterparty, chainIds: [1, 137] });
  expect((await update(both.gateway, { webhookId, chainIds: null })).updateWebhook).toEqual({
    webhook: { active: true, transactionType: null, counterparty, chainIds: null },
  });
});

test('GraphiQL opens on a wallet that the sandbox knows, and on a subscription', () => {
  const [query, subscription] = graphiqlOptions({ isSandbox: true }).defaultTabs ?? [];
  expect(query?.query).toContain(demoAddress('whale'));
  expect(subscription?.query).toContain('subscription');
});
