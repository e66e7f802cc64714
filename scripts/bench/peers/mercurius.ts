// The gateway's lookups by Mercurius on Fastify, with its JIT from the first request on.
import process from 'node:process';
import { fastify } from 'fastify';
import type { GraphQLResolveInfo } from 'graphql';
import { mercurius } from 'mercurius';
import { selects } from './selection.ts';
import { collectiblesOf, type PageArguments, transactionsOf } from './service.ts';

/** Values are strings where the gateway has scalars of its own: the cheapest that there is. */
const schema = `
  scalar Address
  scalar JSON
  type Query { wallet(address: Address!): Wallet! wallets(addresses: [Address!]!): [Wallet!]! }
  type Wallet {
    address: String!
    transactions(first: Int!, after: String): TransactionConnection
    collectibles(first: Int!, after: String): CollectibleConnection
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
`;

type Wallet = { address: string };

const app = fastify();
app.register(mercurius, {
  schema,
  jit: 1,
  resolvers: {
    Query: {
      wallet: (_root: unknown, { address }: Wallet) => ({ address }),
      wallets: (_root: unknown, { addresses }: { addresses: string[] }) =>
        addresses.map((address) => ({ address })),
    },
    Wallet: {
      transactions: ({ address }: Wallet, args: PageArguments, _context: unknown, info: GraphQLResolveInfo) =>
        transactionsOf(address, args, selects(info.fieldNodes, 'decoded')),
      collectibles: ({ address }: Wallet, args: PageArguments) => collectiblesOf(address, args),
    },
  },
});
const url = await app.listen({ port: 0, host: '127.0.0.1' });
process.stderr.write(`${JSON.stringify({ msg: 'listening', url })}\n`);
