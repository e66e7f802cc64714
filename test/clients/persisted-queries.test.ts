import { createHash } from 'node:crypto';
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { CombinedGraphQLErrors } from '@apollo/client/errors';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { Client, fetchExchange, gql as urqlGql } from '@urql/core';
import { persistedExchange } from '@urql/exchange-persisted';
import { describe, expect, test } from 'vitest';
import { FRONTS, openFront } from '../support/gateway/fronts.ts';
import { startGateway } from '../support/gateway/start.ts';
import { startTrusting } from '../support/gateway/trusted.ts';
import { addressOf, history } from '../support/upstream/builders.ts';
import { servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** Automatic persisted queries by the clients' own code, unmodified. */

const WALLET = addressOf(0xa90);
const TRANSACTIONS = `query Transactions($address: Address!) {
  wallet(address: $address) { id transactions(first: 3) { nodes { id hash } } }
}`;
type Data = { wallet: { transactions: { nodes: { hash: string }[] } } };

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const startWallets = async () => {
  const fake = await startFakeWallets();
  fake.transactions.set(WALLET, servingTransactions(history(10)));
  return fake;
};

/** A fetch that notes what it sends: the method, and whether the text is in it. */
const noting = (send: typeof fetch) => {
  const sent: string[] = [];
  const noted: typeof fetch = (input, init) => {
    const method = init?.method ?? 'GET';
    const whole = `${decodeURIComponent(String(input)).replaceAll('+', ' ')} ${String(init?.body ?? '')}`;
    sent.push(`${method}${whole.includes('query Transactions') ? ' with the text' : ''}`);
    return send(input, init);
  };
  return { sent, fetch: noted };
};

const apolloOf = (url: string, send: typeof fetch, useGETForHashedQueries: boolean) =>
  new ApolloClient({
    link: ApolloLink.from([
      new PersistedQueryLink({ sha256, useGETForHashedQueries }),
      new HttpLink({ uri: `${url}/graphql`, fetch: send }),
    ]),
    cache: new InMemoryCache(),
  });

describe.each([
  ['POST', false, ['POST', 'POST with the text', 'POST', 'POST']],
  ['GET', true, ['GET', 'POST with the text', 'GET', 'GET']],
] as const)("Apollo's PersistedQueryLink by %s", (_method, byGet, expected) => {
  test.for(FRONTS)(`sends the text once, by %s`, async (name, context) => {
    await using fake = await startWallets();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    await using front = await openFront(context, name, gateway.url);
    const { sent, fetch } = noting(front.fetch);
    const ask = async () => {
      const client = apolloOf(front.url, fetch, byGet);
      const { data } = await client.query<Data>({
        query: gql(TRANSACTIONS),
        variables: { address: WALLET },
        fetchPolicy: 'network-only',
      });
      client.stop();
      expect(data?.wallet.transactions.nodes).toHaveLength(3);
    };
    // Each time another visitor.
    for (let visitor = 0; visitor < 3; visitor += 1) await ask();
    expect(sent).toEqual(expected);
  });
});

test('a gateway that has forgotten is sent the text again', async () => {
  await using fake = await startWallets();
  const { sent, fetch: noted } = noting(fetch);
  for (const _start of [1, 2]) {
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
    const client = apolloOf(gateway.url, noted, false);
    const query = { query: gql(TRANSACTIONS), variables: { address: WALLET } };
    expect((await client.query<Data>(query)).data?.wallet.transactions.nodes).toHaveLength(3);
    client.stop();
  }
  expect(sent).toEqual(['POST', 'POST with the text', 'POST', 'POST with the text']);
});

test('with TRUSTED_DOCUMENTS Apollo Client runs those alone, and gets FORBIDDEN for others', async () => {
  await using fake = await startWallets();
  await using gateway = await startTrusting([TRANSACTIONS], { UPSTREAM_URL: fake.url });
  const { sent, fetch: noted } = noting(fetch);
  const client = apolloOf(gateway.url, noted, false);
  const failure = await client.query({ query: gql('{ deliveryUrl }') }).catch((error: unknown) => error);
  expect(CombinedGraphQLErrors.is(failure) && failure.errors).toMatchObject([
    { extensions: { code: 'FORBIDDEN' } },
  ]);
  // The link has learnt that no text is persisted.
  expect(sent).toEqual(['POST', 'POST']);
  client.stop();
});

test.each([
  ['POST', false, ['POST', 'POST with the text', 'POST']],
  ['GET', true, ['GET', 'GET with the text', 'GET']],
] as const)("urql's persistedExchange by %s sends the text once", async (_method, preferGet, expected) => {
  await using fake = await startWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const { sent, fetch: noted } = noting(fetch);
  for (const _visitor of [1, 2]) {
    const client = new Client({
      url: `${gateway.url}/graphql`,
      fetch: noted,
      preferGetMethod: false,
      exchanges: [persistedExchange({ preferGetForPersistedQueries: preferGet }), fetchExchange],
    });
    const { data } = await client.query<Data>(urqlGql(TRANSACTIONS), { address: WALLET }).toPromise();
    expect(data?.wallet.transactions.nodes).toHaveLength(3);
  }
  expect(sent).toEqual(expected);
});
