/** What a dashboard shows of each delivery. */
export const DASHBOARD = `subscription {
  deliveries {
    cursor
    node {
      id
      type
      chainId
      receivedAt
      events {
        __typename
        ... on TransactionEvent { transaction { hash direction value } }
        ... on Activity { typeName transactionHash from to tokenAddress value }
        ... on BalanceChange { tokenSymbol amountDelta }
      }
    }
  }
}`;
