import { builder, nullIfOmitted } from '../graph/builder.ts';
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
    tokenStandardName: t.exposeString(
      'tokenStandardName',
      nullIfOmitted('The token standard as the service wrote it.'),
    ),
    tokenId: t.expose('tokenId', { type: 'BigInt', description: "The token's id in its contract." }),
    chain: t.exposeString('chain', { description: "The service's name for the chain." }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The id of the chain.' }),
    name: t.exposeString('name', nullIfOmitted('The name of the token.')),
    description: t.exposeString('description', {
      ...nullIfOmitted('The description of the token.'),
      extensions: withCost({ bytes: 200 }),
    }),
    symbol: t.exposeString('symbol', nullIfOmitted('The symbol of the token.')),
    imageUrl: t.expose('imageUrl', {
      type: 'URL',
      ...nullIfOmitted(
        "The image of the token. It may redirect to the collection's own host, and may be an ipfs or a data URL.",
      ),
    }),
    lastSalePrice: t.expose('lastSalePrice', {
      type: 'Decimal',
      nullable: true,
      description: "The price of the last sale, in the service's unit. Null when no sale is known.",
    }),
    metadata: t.expose('metadata', {
      type: CollectibleMetadata,
      ...nullIfOmitted('The metadata of the token.'),
    }),
    isSpam: t.exposeBoolean('isSpam', nullIfOmitted('Whether the service classifies it as spam.')),
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
      ...nullIfOmitted('When the wallet last acquired this token.'),
    }),
  }),
});

CollectibleMetadata.implement({
  description: 'The metadata of a token.',
  fields: (t) => ({
    uri: t.exposeString('uri', nullIfOmitted('The URI of the metadata document.')),
    attributes: t.expose('attributes', {
      type: [CollectibleAttribute],
      description: 'The traits of the token. Empty when it has none.',
    }),
  }),
});

CollectibleAttribute.implement({
  description: 'A trait of a token.',
  fields: (t) => ({
    key: t.exposeString('key', nullIfOmitted('The name of the trait.')),
    value: t.exposeString(
      'value',
      nullIfOmitted('The value of the trait. A value that is not a string is its JSON.'),
    ),
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
