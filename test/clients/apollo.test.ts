import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { relayStylePagination } from '@apollo/client/utilities';
import { expect, test } from 'vitest';
import type { PageInfo } from '../support/clients/walk.ts';
import { pagingSchemes, startGrowingWallet } from '../support/upstream/growing-wallet.ts';

const walletPage = gql`
  query ($address: Address!, $first: Int, $after: String) {
    wallet(address: $address) {
      id
      transactions(first: $first, after: $after) {
        edges { cursor node { id hash } }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }
  }
`;

type WalletPage = {
  wallet: {
    id: string;
    transactions: { edges: { cursor: string; node: { id: string; hash: string } }[]; pageInfo: PageInfo };
  };
};

type WalletVariables = { address: string; first: number; after?: string | null };

test.each(pagingSchemes)(
  "Apollo's relayStylePagination pages a wallet whose head grows to its end, once each ($by, $sizes)",
  async (scheme) => {
    await using wallet = await startGrowingWallet(scheme);
    const client = new ApolloClient({
      link: new HttpLink({ uri: wallet.url, fetch: wallet.fetch }),
      cache: new InMemoryCache({
        typePolicies: { Wallet: { fields: { transactions: relayStylePagination() } } },
      }),
    });
    const variables = { address: wallet.address, first: 20 };
    const pages = client.watchQuery<WalletPage, WalletVariables>({ query: walletPage, variables });
    const subscription = pages.subscribe({});
    await client.query<WalletPage, WalletVariables>({ query: walletPage, variables });
    const read = () =>
      client.readQuery<WalletPage, WalletVariables>({ query: walletPage, variables })?.wallet.transactions;

    while (read()?.pageInfo.hasNextPage)
      await pages.fetchMore({ variables: { after: read()?.pageInfo.endCursor ?? null } });
    subscription.unsubscribe();
    client.stop();

    expect(read()?.edges.map(({ node }) => node.hash)).toEqual(wallet.hashes);
    expect(wallet.served).toEqual(wallet.hashes);
  },
);
