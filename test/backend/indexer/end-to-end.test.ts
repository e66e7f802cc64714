import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { createClient } from 'graphql-ws';
import { expect, test } from 'vitest';
import WebSocket from 'ws';
import { startGateway } from '../../support/gateway/start.ts';
import { startAnvil } from './support/anvil.ts';
import { accountsOf, deploy } from './support/contracts.ts';
import { API_KEY, openIndexed } from './support/service.ts';

const BALANCES = gql`query ($address: Address!) {
  wallet(address: $address) { id balances(chainIds: [31337]) { nodes { id amount token { id symbol } } } }
}`;

const EVENTS = gql`subscription {
  deliveries {
    cursor
    node {
      id
      events { __typename ... on BalanceChange { balance { id amount } } ... on Activity { type } }
    }
  }
}`;

const WATCH = `mutation ($address: Address!) {
  watchWallet(input: { address: $address }) { __typename ... on WebhookError { message } }
}`;

type Balances = { wallet: { balances: { nodes: { amount: string; token: { symbol: string } | null }[] } } };
type Events = { deliveries: { node: { events: { __typename: string; type?: string }[] } } };

test('an Apollo client sees a transfer and the balance that it makes, from the chain through service and gateway', async () => {
  await using anvil = await startAnvil();
  const [owner = '0x', friend = '0x'] = await accountsOf(anvil.url);
  const coin = await deploy(anvil.url, 'Coin', ['Real Coin', 'REAL', 6]);
  await coin.mine('mint', [owner, 1_000_000n]);
  await coin.mine('transfer', [friend, 1n]);
  await using service = await openIndexed({ chains: [{ id: 31_337, url: anvil.url, startBlock: null }] });
  await service.indexed(await anvil.head());
  await using gateway = await startGateway({ UPSTREAM_URL: service.url, UPSTREAM_API_KEY: API_KEY });
  expect(await gateway.data(WATCH, { address: friend })).toEqual({
    watchWallet: { __typename: 'WatchWalletPayload' },
  });

  const socket = createClient({
    url: `${gateway.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    lazy: false,
  });
  const cache = new InMemoryCache({
    possibleTypes: { DeliveryEvent: ['Activity', 'BalanceChange', 'TransactionEvent'] },
  });
  const queries = new ApolloClient({ cache, link: new HttpLink({ uri: `${gateway.url}/graphql` }) });
  const events = new ApolloClient({ cache, link: new GraphQLWsLink(socket) });
  try {
    const variables = { address: friend };
    await queries.query<Balances>({ query: BALANCES, variables });
    const seen: string[] = [];
    events.subscribe<Events>({ query: EVENTS }).subscribe(({ data }) => {
      for (const { __typename, type } of data?.deliveries.node.events ?? []) seen.push(type ?? __typename);
    });
    const shown = () =>
      cache
        .readQuery<Balances>({ query: BALANCES, variables })
        ?.wallet.balances.nodes.find(({ token }) => token?.symbol === 'REAL')?.amount;
    expect(shown()).toBe('1');
    // The first ones may come before the subscription is open.
    let sent = 1n;
    await expect
      .poll(
        async () => {
          await coin.mine('transfer', [friend, 1000n]);
          sent += 1000n;
          return shown();
        },
        { interval: 500 },
      )
      .not.toBe('1');
    await expect.poll(shown).toBe(String(sent));
    expect(seen).toContain('RECEIVE');
    expect(seen).toContain('BalanceChange');
  } finally {
    queries.stop();
    events.stop();
    await socket.dispose();
  }
});
