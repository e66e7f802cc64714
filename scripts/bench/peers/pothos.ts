import SchemaBuilder from '@pothos/core';
import type { Attribute, Collectible, Decoded, Input, Log, Metadata, Transaction } from './items.ts';
import { selects } from './selection.ts';
import { type Connection, collectiblesOf, transactionsOf } from './service.ts';

type Wallet = { address: string };

const builder = new SchemaBuilder<{
  Scalars: { Address: { Input: string; Output: string }; JSON: { Input: unknown; Output: unknown } };
  DefaultFieldNullability: true;
}>({});

builder.scalarType('Address', {});
builder.scalarType('JSON', {});

const InputType = builder.objectRef<Input>('Input').implement({
  fields: (t) => ({
    name: t.exposeString('name'),
    type: t.exposeString('type'),
    value: t.expose('value', { type: 'JSON' }),
  }),
});

const DecodedType = builder.objectRef<Decoded>('Decoded').implement({
  fields: (t) => ({ name: t.exposeString('name'), inputs: t.expose('inputs', { type: [InputType] }) }),
});

const LogType = builder.objectRef<Log>('Log').implement({
  fields: (t) => ({
    address: t.exposeString('address'),
    topics: t.exposeStringList('topics'),
    data: t.exposeString('data'),
    decoded: t.expose('decoded', { type: DecodedType }),
  }),
});

const TransactionType = builder.objectRef<Transaction>('Transaction').implement({
  fields: (t) => ({
    address: t.exposeString('address'),
    blockHash: t.exposeString('blockHash'),
    blockNumber: t.exposeString('blockNumber'),
    blockTime: t.exposeString('blockTime'),
    chain: t.exposeString('chain'),
    from: t.exposeString('from'),
    to: t.exposeString('to'),
    data: t.exposeString('data'),
    gasPrice: t.exposeString('gasPrice'),
    hash: t.exposeString('hash'),
    index: t.exposeString('index'),
    nonce: t.exposeString('nonce'),
    transactionType: t.exposeString('transactionType'),
    value: t.exposeString('value'),
    decoded: t.expose('decoded', { type: DecodedType }),
    logs: t.expose('logs', { type: [LogType] }),
  }),
});

const AttributeType = builder.objectRef<Attribute>('Attribute').implement({
  fields: (t) => ({ key: t.exposeString('key'), value: t.exposeString('value') }),
});

const MetadataType = builder.objectRef<Metadata>('Metadata').implement({
  fields: (t) => ({
    uri: t.exposeString('uri'),
    attributes: t.expose('attributes', { type: [AttributeType] }),
  }),
});

const CollectibleType = builder.objectRef<Collectible>('Collectible').implement({
  fields: (t) => ({
    contractAddress: t.exposeString('contractAddress'),
    tokenStandard: t.exposeString('tokenStandard'),
    tokenId: t.exposeString('tokenId'),
    chain: t.exposeString('chain'),
    chainId: t.exposeInt('chainId'),
    name: t.exposeString('name'),
    description: t.exposeString('description'),
    symbol: t.exposeString('symbol'),
    imageUrl: t.exposeString('imageUrl'),
    lastSalePrice: t.exposeString('lastSalePrice'),
    metadata: t.expose('metadata', { type: MetadataType }),
    isSpam: t.exposeBoolean('isSpam'),
    balance: t.exposeString('balance'),
    lastAcquired: t.exposeString('lastAcquired'),
  }),
});

const PageInfo = builder.objectRef<{ hasNextPage: boolean; endCursor: string | null }>('PageInfo').implement({
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage'),
    endCursor: t.exposeString('endCursor'),
  }),
});

const TransactionEdge = builder
  .objectRef<{ cursor: string; node: Transaction }>('TransactionEdge')
  .implement({
    fields: (t) => ({
      cursor: t.exposeString('cursor'),
      node: t.expose('node', { type: TransactionType }),
    }),
  });

const TransactionConnection = builder.objectRef<Connection<Transaction>>('TransactionConnection').implement({
  fields: (t) => ({
    edges: t.expose('edges', { type: [TransactionEdge] }),
    nodes: t.expose('nodes', { type: [TransactionType] }),
    pageInfo: t.expose('pageInfo', { type: PageInfo }),
  }),
});

const CollectibleConnection = builder.objectRef<Connection<Collectible>>('CollectibleConnection').implement({
  fields: (t) => ({
    nodes: t.expose('nodes', { type: [CollectibleType] }),
    pageInfo: t.expose('pageInfo', { type: PageInfo }),
  }),
});

const WalletType = builder.objectRef<Wallet>('Wallet').implement({
  fields: (t) => ({
    address: t.exposeString('address'),
    transactions: t.field({
      type: TransactionConnection,
      args: { first: t.arg.int({ required: true }), after: t.arg.string() },
      resolve: ({ address }, args, _context, { fieldNodes }) =>
        transactionsOf(address, args, selects(fieldNodes, 'decoded')),
    }),
    collectibles: t.field({
      type: CollectibleConnection,
      args: { first: t.arg.int({ required: true }), after: t.arg.string() },
      resolve: ({ address }, args) => collectiblesOf(address, args),
    }),
  }),
});

builder.queryType({
  fields: (t) => ({
    wallet: t.field({
      type: WalletType,
      args: { address: t.arg({ type: 'Address', required: true }) },
      resolve: (_root, { address }) => ({ address }),
    }),
    wallets: t.field({
      type: [WalletType],
      args: { addresses: t.arg({ type: ['Address'], required: true }) },
      resolve: (_root, { addresses }) => addresses.map((address) => ({ address })),
    }),
  }),
});

export const schema = builder.toSchema();
