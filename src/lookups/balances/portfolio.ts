import { builder } from '../../graph/builder.ts';
import { withCost } from '../../graph/cost/field-cost.ts';
import { badUserInput } from '../../graph/errors.ts';
import { semanticNonNull } from '../../graph/semantic-non-null.ts';
import { MAX_HOURS, unionOf } from '../../upstream/page.ts';
import { chainArguments, chainsParameter } from '../chains/chains-schema.ts';
import { selectedDetails } from '../list-field.ts';
import { detailsOfHours } from '../tokens/historical-price.ts';
import { Wallet } from '../wallet.ts';
import { noteList } from './balance-reader.ts';
import { Balance, historyBelow, historyOf } from './balances.ts';
import { balancesLookup } from './balances-rest.ts';
import {
  MAX_PAGES,
  type PortfolioChangeRecord,
  type PortfolioPartRecord,
  type PortfolioRecord,
  readPortfolio,
} from './portfolio-sums.ts';

const MAX_TOP = 1000;

const selectedBelow = selectedDetails(balancesLookup);

const PortfolioPart = builder.objectRef<PortfolioPartRecord>('PortfolioPart').implement({
  description: 'A part of the balances of a wallet.',
  fields: (t) => ({
    chainId: t.expose('chainId', {
      type: 'ChainId',
      nullable: true,
      description: 'The id of the chain. Null in `excluded`, which is of all chains.',
    }),
    balances: t.exposeInt('balances', { description: 'The number of balances.' }),
    totalUsd: t.expose('totalUsd', {
      type: 'Decimal',
      description: 'The exact sum of their values, in US dollars.',
    }),
    share: t.expose('share', {
      type: 'Decimal',
      nullable: true,
      description:
        'The part of `Portfolio.totalUsd`, from 0 to 1, to 18 decimal places. Null in `excluded`, and when that total is zero.',
    }),
  }),
});

const PortfolioChange = builder.objectRef<PortfolioChangeRecord>('PortfolioChange').implement({
  description:
    'What the balances that count now were worth at the prices of an earlier hour. A balance without a price of then is on neither side.',
  fields: (t) => ({
    hoursAgo: t.exposeInt('hoursAgo', { description: 'How many hours before the answer.' }),
    totalUsd: t.expose('totalUsd', {
      type: 'Decimal',
      description: 'The exact sum of the amounts of now at the prices of then, in US dollars.',
    }),
    changeUsd: t.expose('changeUsd', {
      type: 'Decimal',
      description: 'The values of now of the same balances, minus `totalUsd`.',
    }),
    changeRatio: t.expose('changeRatio', {
      type: 'Decimal',
      nullable: true,
      description: 'Now divided by then, minus 1, to 18 decimal places. Null when `totalUsd` is zero.',
    }),
    unpricedBalances: t.exposeInt('unpricedBalances', {
      description: 'The number of balances that count now and have no price of then.',
    }),
  }),
});

const Portfolio = builder.objectRef<PortfolioRecord>('Portfolio').implement({
  description:
    'What the balances of a wallet are worth together, without DeFi positions. Each balance is one of three: unpriced; excluded, since it has a price but too little liquidity for it; or counted, which is every other one, also of unknown liquidity. All sums are exact.',
  fields: (t) => ({
    totalUsd: t.expose('totalUsd', {
      type: 'Decimal',
      description: 'The sum of the values of the balances that count, in US dollars.',
    }),
    countedBalances: t.exposeInt('countedBalances', { description: 'The number of balances that count.' }),
    excluded: t.expose('excluded', {
      type: PortfolioPart,
      description:
        'The balances that are left out for their low liquidity, with what they claim to be worth.',
    }),
    unpricedBalances: t.exposeInt('unpricedBalances', {
      description: 'The number of balances without a price. They have no value to sum.',
    }),
    byChain: t.expose('byChain', {
      type: [PortfolioPart],
      description: 'The balances that count, by chain: the chain with the largest total first.',
      extensions: withCost({ items: 14 }),
    }),
    top: t.field({
      type: [Balance],
      description:
        'The balances that count with the largest values, the largest first. This order moves with prices, so it has no pages: `Wallet.balances` has.',
      args: {
        first: t.arg.int({
          required: true,
          defaultValue: 20,
          description: `How many balances, from 0 to ${MAX_TOP}.`,
        }),
      },
      extensions: withCost<{ first: number }>({ count: ({ first }) => topSize(first) }),
      resolve: ({ top }, { first }) => top(topSize(first)),
    }),
    change: t.expose('change', {
      type: [PortfolioChange],
      nullable: true,
      description:
        'What the balances that count were worth at each hour of `priceHoursAgo`, in its order. Null without that argument.',
    }),
    isComplete: t.exposeBoolean('isComplete', {
      description: `Whether all balances are in it. False when the service could not read some, or says that it does not know all of a chain, when a page failed, when a balance could not be parsed, and when the wallet has more than ${MAX_PAGES} pages.`,
    }),
    unavailableChainIds: t.expose('unavailableChainIds', {
      type: ['ChainId'],
      description: 'The chains that the service says are missing in the total, wholly or in part.',
    }),
    partialErrors: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'The errors and warnings that the service sent for a part of the balances, such as that its index of a chain begins late. Null when it sent none.',
      resolve: ({ partialErrors }) => partialErrors,
    }),
    asOf: t.expose('asOf', {
      type: 'DateTime',
      nullable: true,
      description:
        'When the service received the oldest upstream request behind the total. Null when the service omits it.',
    }),
  }),
});

const topSize = (first: number): number => {
  if (first < 0 || first > MAX_TOP)
    throw badUserInput(`Expected first from 0 to ${MAX_TOP} balances, got ${first}.`);
  return first;
};

type PortfolioArgs = {
  readonly chainIds?: readonly number[] | null;
  readonly chainTags?: readonly string[] | null;
  readonly priceHoursAgo?: readonly number[] | null;
};

builder.objectField(Wallet, 'portfolio', (t) =>
  t.field({
    type: Portfolio,
    nullable: true,
    description: `What the balances of the wallet are worth together, without DeFi positions: the sum of the pages of \`balances\` with the same chains, which costs nothing beside them. Otherwise 1 compute unit for each chain and 1,000 balances, of at most ${MAX_PAGES},000. Null, with an error, when the first page can't be read.`,
    authScopes: { wallets: true },
    args: {
      ...chainArguments,
      minPoolSizeUsd: t.arg({
        type: 'Decimal',
        defaultValue: '10000',
        description:
          'Balances whose price comes from a smaller pool, in US dollars, are excluded; where the pool is unknown, those that the service states to have low liquidity. The native asset never is. Null excludes nothing.',
      }),
      priceHoursAgo: t.arg.intList({
        description: `The hours of \`change\`: at most ${MAX_HOURS} different ones together with those of \`priceHistory\` in \`top\`, each at least 1. They cost nothing. Default: none.`,
      }),
    },
    extensions: {
      ...semanticNonNull(),
      ...withCost<PortfolioArgs>({
        lookup({ chainIds, chainTags, priceHoursAgo }, pricing, below) {
          const chains = chainsParameter(chainIds, chainTags);
          const most = MAX_PAGES * balancesLookup.pageSizes.older;
          return {
            field: balancesLookup.name,
            list: [chains, [null, false, false]],
            details: detailsOfHours([...(priceHoursAgo ?? []), ...historyOf(below)]),
            computeUnits: balancesLookup.priceOf(most, chains, pricing),
            advice:
              'A portfolio costs one compute unit for each chain and 1,000 balances, at most five times: select fewer chains by chainIds.',
          };
        },
      }),
    },
    resolve: ({ address }, { chainIds, chainTags, minPoolSizeUsd = null, priceHoursAgo }, context, info) => {
      const chains = chainsParameter(chainIds, chainTags);
      context.chains.assertKnown(chainIds, chainTags);
      context.chains.assertSupported('BALANCES', chainIds);
      const list = { address, chains, assetClass: null, excludeSpam: false, excludeUnpriced: false };
      const hours = [...(priceHoursAgo ?? []), ...historyBelow(info)];
      const details = unionOf([selectedBelow(info, context), detailsOfHours(hours)]);
      noteList(context.lookups, list);
      return readPortfolio(
        balancesLookup.read(context.lookups, list, details),
        minPoolSizeUsd,
        priceHoursAgo ?? null,
      );
    },
  }),
);
