import type { GraphiQLOptions } from 'graphql-yoga';

/** The sandbox's whale; on another service it is an address like any. */
const WALLET = '0xc7928e7865fb684cc7629937d4064aa69989eab4';

const QUERY = ` # The query Transactions: the newest of a wallet. Run it, then look at extensions.upstream:
# what the operation cost at the service.
query {
  wallet(address: "${WALLET}") {
    transactions(first: 10) {
      nodes {
        chain
        hash
        blockTime
        from
        to
        value
        decoded {
          name
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}
`;

const SUBSCRIPTION = ` # The subscription Events: what the service delivers, as it comes. Pass a cursor as \`after\` to resume without a gap.
subscription {
  deliveries {
    cursor
    node {
      type
      chainId
      receivedAt
      events {
        __typename
        ... on TransactionEvent {
          transaction {
            hash
            direction
            value
          }
        }
        ... on Activity {
          typeName
          transactionHash
          value
        }
        ... on BalanceChange {
          direction
          tokenSymbol
          amountDelta
        }
      }
    }
  }
}
`;

type Options = {
  /** Whether clients have to send credentials. */
  readonly needsCredentials: boolean;
  /** Whether the service is made up. */
  readonly isSandbox: boolean;
};

/**
 * Operations without names: GraphiQL, quick from one tab to the other, runs a named operation's name in the wrong
 * document. It names a tab by the first line that has `query Name` or the like and does not begin with #: that line is a
 * comment here, behind a blank.
 * What its user puts into headers goes by server-sent events, but not by WebSocket.
 */
export const graphiqlOptions = ({ needsCredentials, isSandbox }: Options): GraphiQLOptions => ({
  title: isSandbox ? 'EVM gateway: sandbox, its data is made up' : 'EVM gateway',
  subscriptionsProtocol: needsCredentials ? 'SSE' : 'WS',
  defaultTabs: [{ query: QUERY }, { query: SUBSCRIPTION }],
});
