import { builder } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { badUserInput } from '../../graph/errors.ts';
import type { ChainLookup } from '../../upstream/parse/fields.ts';
import type { ChainExplorer as ChainExplorerShape, Chain as ChainShape } from './known-chains.ts';
import type { ChainIndex as ChainIndexShape, ChainTraces as ChainTracesShape } from './read-chains.ts';

const Lookup = builder.enumType('Lookup', {
  description: 'What the service may offer for a chain.',
  values: {
    BALANCES: { description: '`Wallet.balances`, `Wallet.balance` and `Wallet.portfolio`.' },
    ACTIVITY: { description: '`Wallet.activity`.' },
    TRANSACTIONS: { description: '`Wallet.transactions`.' },
    TRANSACTION: { description: '`Query.transaction`. Hosted services do not offer it.' },
    COLLECTIBLES: { description: '`Wallet.collectibles`.' },
    APPROVALS: { description: '`Wallet.approvals`. Hosted services do not offer it.' },
    NAMES: { description: '`Wallet.name`. Hosted services do not offer it.' },
    TOKEN_INFO: { description: '`Token.market`.' },
    TOKEN_HOLDERS: { description: '`Token.holders`.' },
    DEFI_POSITIONS: { description: '`Wallet.defiPositions`.' },
    WEBHOOKS: {
      description:
        '`Mutation.watchWallet`, `Mutation.createWebhook` and what they deliver. Hosted services do not say for which chains they offer it.',
    },
  } satisfies { readonly [Name in ChainLookup]: object },
});

const UNSAID = 'Null where the service does not say it.';

const ChainTraces = builder.objectRef<ChainTracesShape>('ChainTraces').implement({
  description:
    'The progress of the service in tracing the blocks of a chain. Native currency that moves inside of calls is activity once its block is traced.',
  fields: (t) => ({
    behind: t.expose('behind', {
      type: 'BigInt',
      nullable: true,
      description: `How many of the indexed blocks are not traced yet. ${UNSAID}`,
    }),
    problem: t.exposeString('problem', {
      nullable: true,
      description: 'Why blocks can not be traced at present, in words. Null while they are.',
    }),
  }),
});

const ChainIndex = builder.objectRef<ChainIndexShape>('ChainIndex').implement({
  description: 'How far the service is with a chain that it indexes itself.',
  fields: (t) => ({
    head: t.expose('head', {
      type: 'BigInt',
      nullable: true,
      description:
        "The number of the chain's newest block, as far as the service has heard. Null until it has.",
    }),
    headTime: t.expose('headTime', {
      type: 'DateTime',
      nullable: true,
      description: `The time of that block. ${UNSAID}`,
    }),
    from: t.expose('from', {
      type: 'BigInt',
      nullable: true,
      description: 'The number of the oldest block that is indexed. Null while none is.',
    }),
    to: t.expose('to', {
      type: 'BigInt',
      nullable: true,
      description: 'The number of the newest block that is indexed. Null while none is.',
    }),
    behind: t.expose('behind', {
      type: 'BigInt',
      nullable: true,
      description: `How many blocks up to the head are not indexed yet. ${UNSAID}`,
    }),
    traces: t.field({
      type: ChainTraces,
      nullable: true,
      description: `How far the indexed blocks are traced. ${UNSAID}`,
      resolve: ({ traces }) => traces,
    }),
    problem: t.exposeString('problem', {
      nullable: true,
      description: 'Why the chain is not followed at present, in words. Null while it is.',
    }),
  }),
});

const ChainExplorer = builder.objectRef<ChainExplorerShape>('ChainExplorer').implement({
  description:
    'A block explorer from which the service has the data of a chain. Its licence may ask for its name beside the data.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the explorer, such as `Blockscout`.' }),
    url: t.exposeString('url', {
      nullable: true,
      description:
        'Where its pages are, without a slash at the end: those of a transaction are below it at `/tx/`, of an address at `/address/`, of a token at `/token/`. Null where the service does not say it.',
    }),
  }),
});

export const Chain = builder.objectRef<ChainShape>('Chain').implement({
  description: 'A chain that this gateway knows.',
  fields: (t) => ({
    chainId: t.expose('chainId', {
      type: 'ChainId',
      description: 'The id of the chain, for the arguments `chainIds`.',
    }),
    name: t.exposeString('name', {
      description: "The service's name for the chain, as in `Transaction.chain`.",
    }),
    tags: t.exposeStringList('tags', {
      description:
        'The tags of the chain, for the arguments `chainTags`. A tag selects all chains that have it.',
    }),
    supports: t.field({
      type: [Lookup],
      nullable: true,
      description:
        "The lookups that the service offers for the chain, and whether it delivers events of it. It costs nothing. Null when the service's list of chains can't be read, or does not say it.",
      resolve: (chain, _args, { chainSupports }) => chainSupports(chain),
    }),
    explorer: t.field({
      type: ChainExplorer,
      nullable: true,
      description:
        "The block explorer from which the service has the chain's data. Its prices are of now, without a history, and `supports` says whether anything is delivered of the chain. It costs nothing. Null where the service has the data from elsewhere, or does not say it, as hosted services don't.",
      resolve: ({ explorer }) => explorer ?? null,
    }),
    index: t.field({
      type: ChainIndex,
      nullable: true,
      description:
        "How far the service's own index of the chain is, at most two seconds old. It costs nothing. Null for a service that does not say it, as hosted services don't, and while the service can't be asked.",
      resolve: ({ chainId }, _args, { chainIndex }) => chainIndex(chainId),
    }),
  }),
});

/** More than all lists have. */
const MAX_LISTED_CHAINS = 250;

builder.queryFields((t) => ({
  chains: t.field({
    type: [Chain],
    description:
      "The chains that this gateway knows, in the order of their ids: the values that `chainIds` and `chainTags` accept. They are the service's own list while it can be read, otherwise a built-in one; the setting EXTRA_CHAINS adds chains. The field costs nothing.",
    extensions: withCost({ most: MAX_LISTED_CHAINS }),
    resolve: (_root, _args, { chains }) => chains.all,
  }),
  chain: t.field({
    type: Chain,
    nullable: true,
    description: 'The chain with this id. It costs nothing. Null for a chain that `chains` does not list.',
    args: { chainId: t.arg({ type: 'ChainId', required: true, description: 'The id of the chain.' }) },
    resolve: (_root, { chainId }, { chains }) => chains.find(chainId),
  }),
}));

const MAX_CHAINS = 100;

/** The arguments by which clients choose chains. */
export const chainArguments = builder.args((t) => ({
  chainIds: t.field({
    type: ['ChainId'],
    description: `Only these chains, each one that \`chains\` lists; at most ${MAX_CHAINS} ids and tags together. An empty list is no filter.`,
  }),
  chainTags: t.stringList({
    description: `Only chains with one of these tags, each one that \`chains\` lists; at most ${MAX_CHAINS} ids and tags together. Default, without ids as well: \`default\`.`,
  }),
}));

/** The values of `chainArguments`. */
export type ChainArgs = {
  readonly chainIds?: readonly number[] | null;
  readonly chainTags?: readonly string[] | null;
};

/**
 * Returns upstream's one parameter for chains from ids and tags. It has one order, whatever order the client uses, so
 * equal filters share cached pages. Null, upstream's default tag, when both are missing or empty. Throws BAD_USER_INPUT.
 */
export const chainsParameter = (
  chainIds: readonly number[] | null | undefined,
  chainTags: readonly string[] | null | undefined,
): string | null => {
  if (!chainIds?.length && !chainTags?.length) return null;
  const ids = [...new Set(chainIds)].toSorted((one, other) => one - other);
  const tags = [...new Set(chainTags)].toSorted();
  if (ids.length + tags.length > MAX_CHAINS)
    throw badUserInput(`Expected at most ${MAX_CHAINS} chain ids and tags, got ${ids.length + tags.length}.`);
  const unknownTag = tags.find((tag) => !/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(tag));
  if (unknownTag !== undefined)
    throw badUserInput(
      `Expected chainTags of a letter and at most 63 letters, digits, - and _, got ${JSON.stringify(unknownTag.slice(0, 80))}.`,
    );
  return [...ids, ...tags].join(',');
};
