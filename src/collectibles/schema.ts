import { type ChainArgs, chainArguments, chainsParameter } from '../chains/arguments.ts';
import { builder, NULL_WHEN_OMITTED } from '../graph/builder.ts';
import { withCost } from '../graph/cost/field-cost.ts';
import { connect } from '../graph/pagination/connection.ts';
import { itemConnectionType } from '../graph/pagination/connection-type.ts';
import { type PageArgs, pageArguments } from '../graph/pagination/page-arguments.ts';
import { selectsBelow } from '../graph/selection.ts';
import { Wallet } from '../wallets/schema.ts';
import { type Attribute, type Collectible as CollectibleShape, type Metadata, requestsFor } from './rest.ts';
import { SpamExplanation } from './spam.ts';

const paging = pageArguments(5000, 'collectibles');
const DETAILS: ReadonlySet<string> = new Set(['spamScore', 'explanations']);

const Collectible = builder.objectRef<CollectibleShape>('Collectible');
const CollectibleMetadata = builder.objectRef<Metadata>('CollectibleMetadata');
const CollectibleAttribute = builder.objectRef<Attribute>('CollectibleAttribute');

const TokenStandard = builder.enumType('TokenStandard', {
  description: 'The interface that a token contract implements.',
  values: {
    ERC721: { description: 'Each token is one of a kind.' },
    ERC1155: { description: 'A token has a balance.' },
  },
});

Collectible.implement({
  description: 'An NFT that a wallet holds.',
  fields: (t) => ({
    id: t.id({
      description: "Unique for a wallet, a chain, a contract and a token id. It can't be refetched.",
      resolve: ({ owner, chainId, contractAddress, tokenId }) =>
        Buffer.from(`Collectible:${owner}:${chainId}:${contractAddress}:${tokenId}`).toString('base64'),
    }),
    contractAddress: t.expose('contractAddress', { type: 'Address', description: 'The token contract.' }),
    tokenStandard: t.expose('tokenStandard', {
      type: TokenStandard,
      nullable: true,
      description: 'Null when it is neither: see tokenStandardName.',
    }),
    tokenStandardName: t.exposeString('tokenStandardName', {
      nullable: true,
      description: `As the service wrote it. ${NULL_WHEN_OMITTED}`,
    }),
    tokenId: t.expose('tokenId', { type: 'BigInt', description: "The token's number in its contract." }),
    chain: t.exposeString('chain', { description: "The service's name of the chain." }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain that it is on.' }),
    name: t.exposeString('name', { nullable: true, description: NULL_WHEN_OMITTED }),
    description: t.exposeString('description', {
      nullable: true,
      description: NULL_WHEN_OMITTED,
      extensions: withCost({ bytes: 200 }),
    }),
    symbol: t.exposeString('symbol', { nullable: true, description: NULL_WHEN_OMITTED }),
    imageUrl: t.expose('imageUrl', {
      type: 'URL',
      nullable: true,
      description: `May lead on to the collection's own host, and may be ipfs://. ${NULL_WHEN_OMITTED}`,
    }),
    lastSalePrice: t.expose('lastSalePrice', {
      type: 'Decimal',
      nullable: true,
      description: "In the service's unit. Null when no sale is known.",
    }),
    metadata: t.expose('metadata', {
      type: CollectibleMetadata,
      nullable: true,
      description: NULL_WHEN_OMITTED,
    }),
    isSpam: t.exposeBoolean('isSpam', {
      nullable: true,
      description: `Whether the service takes it for spam. ${NULL_WHEN_OMITTED}`,
    }),
    spamScore: t.exposeFloat('spamScore', {
      nullable: true,
      description: 'Weighted average of the signals, 0 to 100. Null when the service knows no signal.',
    }),
    explanations: t.expose('explanations', {
      type: [SpamExplanation],
      nullable: true,
      description: 'The signals behind spamScore. Null when the service gives none.',
    }),
    balance: t.expose('balance', { type: 'BigInt', description: 'How many the wallet holds.' }),
    lastAcquired: t.expose('lastAcquired', {
      type: 'DateTime',
      nullable: true,
      description: `When the wallet last got one. ${NULL_WHEN_OMITTED}`,
    }),
  }),
});

CollectibleMetadata.implement({
  description: "What the token's metadata says.",
  fields: (t) => ({
    uri: t.exposeString('uri', {
      nullable: true,
      description: `Where the metadata is kept. ${NULL_WHEN_OMITTED}`,
    }),
    attributes: t.expose('attributes', {
      type: [CollectibleAttribute],
      description: 'Empty when there are none.',
    }),
  }),
});

CollectibleAttribute.implement({
  description: 'A trait.',
  fields: (t) => ({
    key: t.exposeString('key', { nullable: true, description: NULL_WHEN_OMITTED }),
    value: t.exposeString('value', {
      nullable: true,
      description: `What is not text is given as the JSON that it was. ${NULL_WHEN_OMITTED}`,
    }),
  }),
});

const CollectibleConnection = itemConnectionType('Collectible', Collectible, 'collectibles');

builder.objectField(Wallet, 'collectibles', (t) =>
  t.field({
    type: CollectibleConnection,
    nullable: true,
    description:
      "In the service's order. Select spamScore or explanations and the service is asked for spam details; there is no argument for it. Null when the lookup fails.",
    authScopes: { wallets: true },
    args: {
      ...paging.args,
      ...chainArguments,
      includeSpam: t.arg.boolean({
        required: true,
        defaultValue: false,
        description: 'Whether to list what the service takes for spam, too.',
      }),
    },
    extensions: withCost<PageArgs & ChainArgs & { includeSpam: boolean }>({
      count: paging.sizeOf,
      lookup: ({ first, after, chainIds, chainTags, includeSpam }, pricing) => {
        const chains = chainsParameter(chainIds, chainTags);
        const requests = requestsFor(paging.sizeOf({ first }));
        return {
          list: [chains, includeSpam, after],
          computeUnits: requests * pricing.priceOf(chains),
          advice: 'Collectibles cost a compute unit a chain: name the fewest by chainIds.',
        };
      },
    }),
    resolve: ({ address }, { first, after, chainIds, chainTags, includeSpam }, context, info) => {
      const chains = chainsParameter(chainIds, chainTags);
      context.chains.assertKnown(chainIds, chainTags);
      return connect({
        read: context.collectibles.read({ address, chains, includeSpam }, selectsBelow(info, DETAILS)),
        cursors: context.cursorsOf(['collectibles', address, chains, includeSpam]),
        first: paging.sizeOf({ first }),
        after,
      });
    },
  }),
);
