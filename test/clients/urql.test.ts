import { Client, fetchExchange, gql } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import { expect, test } from 'vitest';
import { pagingSchemes, startGrowingWallet } from '../support/upstream/growing-wallet.ts';

const walletPage = gql<WalletPage, { address: string; after?: string }>`
  query ($address: Address!, $after: String) {
    wallet(address: $address) {
      id
      transactions(first: 20, after: $after) {
        edges { cursor node { id hash } }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }
  }
`;

type WalletPage = {
  wallet: {
    transactions: {
      edges: { node: { hash: string } }[];
      pageInfo: { hasNextPage: boolean; endCursor: string };
    };
  };
};

test.each(pagingSchemes)(
  "urql's relayPagination pages a wallet whose head grows to its end, once each ($by, $sizes)",
  async (scheme) => {
    await using wallet = await startGrowingWallet(scheme);
    const client = new Client({
      url: wallet.url,
      preferGetMethod: false,
      fetch: wallet.fetch,
      exchanges: [
        cacheExchange({ resolvers: { Wallet: { transactions: relayPagination() } } }),
        fetchExchange,
      ],
    });
    /** All pages so far, as the cache has merged them. */
    const page = async (after?: string) => {
      const { data, error } = await client.query(walletPage, {
        address: wallet.address,
        ...(after && { after }),
      });
      if (!data) throw new Error(`expected a page, got ${error}`);
      return data.wallet.transactions;
    };

    let merged = await page();
    while (merged.pageInfo.hasNextPage) merged = await page(merged.pageInfo.endCursor);

    expect(merged.edges.map(({ node }) => node.hash)).toEqual(wallet.hashes);
    expect(wallet.served).toEqual(wallet.hashes);
  },
);
