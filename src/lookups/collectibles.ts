import { builder, NULL_WHEN_OMITTED } from '../graph/builder.ts';
import { withCost } from '../graph/cost/field-cost.ts';
import { derivedField } from '../graph/plan/plannable.ts';
import { globalId, wordOf } from '../upstream/parse/derived.ts';
import { chainArguments } from './chains/chains-schema.ts';
import {
  type Attribute,
  type Collectible as CollectibleShape,
  collectiblesLookup,
  type Explanation,
  type Metadata,
} from './collectibles-rest.ts';
import { listField } from './list-field.ts';
import { Wallet } from './wallet.ts';

const Collectible = builder.objectRef<CollectibleShape>('Collectible');
const CollectibleMetadata = builder.objectRef<Metadata>('CollectibleMetadata');
const CollectibleAttribute = builder.objectRef<Attribute>('CollectibleAttribute');

const STANDARDS = {
  ERC721: { description: 'Each token is unique.' },
  ERC1155: { description: 'A wallet can hold an amount of each token.' },
} as const;

const TokenStandard = builder.enumType('TokenStandard', {
  description: 'The interface that a token contract implements.',
  values: STANDARDS,
});

Collectible.implement({
  description: 'An NFT that a wallet holds.',
  fields: (t) => ({
    id: t.id({
      description:
        "A key for client caches: unique for a wallet, a chain, a contract and a token id. `node` can't refetch it.",
      ...derivedField(globalId('Collectible', 'owner', 'chainId', 'contractAddress', 'tokenId')),
    }),
    contractAddress: t.expose('contractAddress', {
      type: 'Address',
      description: 'The address of the token contract.',
    }),
    tokenStandard: t.field({
      type: TokenStandard,
      nullable: true,
      description:
        'The token standard. Null for any other standard, and when the service omits it: see tokenStandardName.',
      ...derivedField(wordOf('tokenStandardName', STANDARDS, 'compact')),
    }),
    tokenStandardName: t.exposeString('tokenStandardName', {
      nullable: true,
      description: `The token standard as the service wrote it. ${NULL_WHEN_OMITTED}`,
    }),
    tokenId: t.expose('tokenId', { type: 'BigInt', description: "The token's id in its contract." }),
    chain: t.exposeString('chain', { description: "The service's name for the chain." }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The id of the chain.' }),
    name: t.exposeString('name', {
      nullable: true,
      description: `The name of the token. ${NULL_WHEN_OMITTED}`,
    }),
    description: t.exposeString('description', {
      nullable: true,
      description: `The description of the token. ${NULL_WHEN_OMITTED}`,
      extensions: withCost({ bytes: 200 }),
    }),
    symbol: t.exposeString('symbol', {
      nullable: true,
      description: `The symbol of the token. ${NULL_WHEN_OMITTED}`,
    }),
    imageUrl: t.expose('imageUrl', {
      type: 'URL',
      nullable: true,
      description: `The image of the token. It may redirect to the collection's own host, and may be an ipfs URL. ${NULL_WHEN_OMITTED}`,
    }),
    lastSalePrice: t.expose('lastSalePrice', {
      type: 'Decimal',
      nullable: true,
      description: "The price of the last sale, in the service's unit. Null when no sale is known.",
    }),
    metadata: t.expose('metadata', {
      type: CollectibleMetadata,
      nullable: true,
      description: `The metadata of the token. ${NULL_WHEN_OMITTED}`,
    }),
    isSpam: t.exposeBoolean('isSpam', {
      nullable: true,
      description: `Whether the service classifies it as spam. ${NULL_WHEN_OMITTED}`,
    }),
    spamScore: t.exposeFloat('spamScore', {
      nullable: true,
      description:
        'The weighted average of the spam signals, from 0 to 100. Null when the service has no signal.',
    }),
    explanations: t.expose('explanations', {
      type: [SpamExplanation],
      nullable: true,
      description: 'The signals behind `spamScore`. Null when the service sends none.',
    }),
    balance: t.expose('balance', {
      type: 'BigInt',
      description: 'The amount of this token that the wallet holds.',
    }),
    lastAcquired: t.expose('lastAcquired', {
      type: 'DateTime',
      nullable: true,
      description: `When the wallet last acquired this token. ${NULL_WHEN_OMITTED}`,
    }),
  }),
});

CollectibleMetadata.implement({
  description: 'The metadata of a token.',
  fields: (t) => ({
    uri: t.exposeString('uri', {
      nullable: true,
      description: `The URI of the metadata document. ${NULL_WHEN_OMITTED}`,
    }),
    attributes: t.expose('attributes', {
      type: [CollectibleAttribute],
      description: 'The traits of the token. Empty when it has none.',
    }),
  }),
});

CollectibleAttribute.implement({
  description: 'A trait of a token.',
  fields: (t) => ({
    key: t.exposeString('key', {
      nullable: true,
      description: `The name of the trait. ${NULL_WHEN_OMITTED}`,
    }),
    value: t.exposeString('value', {
      nullable: true,
      description: `The value of the trait. A value that is not a string is its JSON. ${NULL_WHEN_OMITTED}`,
    }),
  }),
});

export const collectibles = listField(Wallet, collectiblesLookup, {
  item: Collectible,
  items: "a wallet's collectibles",
  description:
    "The NFTs of the wallet, in the service's order. The service sends spam details when the operation selects `spamScore` or `explanations`: there is no argument for it. Null, with an error, when the lookup fails.",
  args: {
    ...chainArguments,
    ...builder.args((t) => ({
      includeSpam: t.boolean({
        required: true,
        defaultValue: false,
        description: 'Whether to include collectibles that the service classifies as spam.',
      }),
    })),
  },
  list: ({ address }, chains, { includeSpam }) => ({ address, chains, includeSpam }),
  advice: 'Collectibles cost one compute unit for each chain: select fewer chains by chainIds.',
});

const FEATURES = {
  TRADE_VOLUME: { description: 'The number of trades since launch: very few suggest spam.' },
  UNIQUE_BUYERS: { description: 'The number of distinct buyers: few suggest inorganic activity.' },
  UNIQUE_SELLERS: { description: 'The number of distinct sellers: few suggest inorganic activity.' },
  EXTERNALLY_FLAGGED: { description: 'Whether third parties flagged the collection.' },
  IPFS_URI_PRESENT: { description: 'Whether metadata URIs use IPFS.' },
  SUSPICIOUS_WORDS: { description: 'Whether names, symbols or URIs contain terms that scams use.' },
  URL_SHORTENER_IN_URI: { description: 'Whether metadata URIs use link shorteners.' },
} as const;

const SpamFeature = builder.enumType('SpamFeature', {
  description: 'A signal that contributes to the spam score.',
  values: FEATURES,
});

const SpamExplanation = builder.objectRef<Explanation>('SpamExplanation').implement({
  description: 'One signal and its part in the spam score.',
  fields: (t) => ({
    feature: t.field({
      type: SpamFeature,
      nullable: true,
      description: 'The signal. Null when this gateway does not know it: see featureName.',
      ...derivedField(wordOf('featureName', FEATURES)),
    }),
    featureName: t.exposeString('featureName', {
      description: 'The name of the signal as the service wrote it.',
    }),
    value: t.expose('value', {
      type: 'JSON',
      nullable: true,
      description: 'The value of the signal: a number or a boolean. Null when the service omits it.',
    }),
    score: t.exposeFloat('score', {
      nullable: true,
      description: "The signal's own score. Null when the service omits it.",
    }),
    weight: t.exposeFloat('weight', {
      nullable: true,
      description: 'The weight of the score in the average. Null when the service omits it.',
    }),
  }),
});
