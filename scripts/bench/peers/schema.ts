import type { FieldNode, GraphQLResolveInfo } from 'graphql';
import { activityOf, balancesOf, collectiblesOf, type PageArguments, transactionsOf } from './service.ts';

/** The lookups as the peers have them. Values are strings where the gateway has scalars of its own: the cheapest that there is. */
export const typeDefs = `
  scalar Address
  scalar JSON
  type Query { wallet(address: Address!): Wallet! wallets(addresses: [Address!]!): [Wallet!]! }
  type Wallet {
    address: String!
    transactions(first: Int!, after: String): TransactionConnection
    collectibles(first: Int!, after: String): CollectibleConnection
    balances(first: Int!, after: String): BalanceConnection
    activity(first: Int!, after: String): ActivityConnection
  }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type TransactionConnection { edges: [TransactionEdge]! nodes: [Transaction]! pageInfo: PageInfo! }
  type TransactionEdge { cursor: String! node: Transaction }
  type Transaction {
    address: String! blockHash: String blockNumber: String! blockTime: String! chain: String! from: String! to: String
    data: String gasPrice: String hash: String! index: String nonce: String transactionType: String value: String
    decoded: Decoded logs: [Log!]!
  }
  type Log { address: String! topics: [String!]! data: String decoded: Decoded }
  type Decoded { name: String inputs: [Input!]! }
  type Input { name: String type: String value: JSON }
  type CollectibleConnection { edges: [CollectibleEdge]! nodes: [Collectible]! pageInfo: PageInfo! }
  type CollectibleEdge { cursor: String! node: Collectible }
  type Collectible {
    contractAddress: String! tokenStandard: String tokenId: String! chain: String! chainId: Int! name: String
    description: String symbol: String imageUrl: String lastSalePrice: String metadata: Metadata isSpam: Boolean
    balance: String! lastAcquired: String
  }
  type Metadata { uri: String attributes: [Attribute!]! }
  type Attribute { key: String value: String }
  type Token { address: String symbol: String name: String decimals: Int logo: String }
  type BalanceConnection { edges: [BalanceEdge]! nodes: [Balance]! pageInfo: PageInfo! }
  type BalanceEdge { cursor: String! node: Balance }
  type Balance { chain: String chainId: Int! amount: String! valueUsd: String priceUsd: String token: Token! }
  type ActivityConnection { edges: [ActivityEdge]! nodes: [Activity]! pageInfo: PageInfo! }
  type ActivityEdge { cursor: String! node: Activity }
  type Activity {
    type: String chainId: Int blockNumber: String blockTime: String transactionHash: String from: String to: String
    value: String valueUsd: String token: Token swap: Swap
  }
  type Swap { from: SwapSide to: SwapSide }
  type SwapSide { value: String token: Token }
`;

type Wallet = { readonly address: string };

/** Whether a field of this name is selected anywhere below, outside of fragments. */
const selects = (nodes: readonly FieldNode[], name: string): boolean =>
  nodes.some(({ selectionSet }) => {
    const fields = selectionSet?.selections.filter((selection) => selection.kind === 'Field') ?? [];
    return fields.some((field) => field.name.value === name) || selects(fields, name);
  });

export const resolvers = {
  Query: {
    wallet: (_root: unknown, { address }: Wallet): Wallet => ({ address }),
    wallets: (_root: unknown, { addresses }: { readonly addresses: readonly string[] }): Wallet[] =>
      addresses.map((address) => ({ address })),
  },
  Wallet: {
    transactions: (
      { address }: Wallet,
      args: PageArguments,
      _context: unknown,
      { fieldNodes }: GraphQLResolveInfo,
    ) => transactionsOf(address, args, selects(fieldNodes, 'decoded')),
    collectibles: ({ address }: Wallet, args: PageArguments) => collectiblesOf(address, args),
    balances: (
      { address }: Wallet,
      args: PageArguments,
      _context: unknown,
      { fieldNodes }: GraphQLResolveInfo,
    ) => balancesOf(address, args, selects(fieldNodes, 'logo')),
    activity: ({ address }: Wallet, args: PageArguments) => activityOf(address, args),
  },
};
