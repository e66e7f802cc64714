import { builder } from '../graph/builder.ts';
import { Balance } from './balance.ts';
import { noteList } from './balance-reader.ts';
import { balancesLookup, hasPoolOf } from './balances-rest.ts';
import { chainArguments } from './chains-schema.ts';
import { detailsOfHours, hoursArgument, withHours } from './historical-price.ts';
import { listField } from './list-field.ts';
import { Wallet } from './wallet.ts';

const AssetClass = builder.enumType('AssetClass', {
  description: 'A class of assets.',
  values: {
    NATIVE: { description: "The chains' own currencies, such as ETH on Ethereum." },
    ERC20: { description: 'Tokens of contracts.' },
    STABLECOIN: {
      description: 'Tokens that are pegged to US dollars or euros, as the service classifies them.',
    },
  } as const,
});

const HISTORY: ReadonlySet<string> = new Set(['priceHistory']);

export const balances = listField(Wallet, balancesLookup, {
  item: Balance,
  items: "a wallet's balances",
  description:
    "What the wallet holds, in the service's order, which it does not state: `portfolio.top` is by value. A page of 1,000 costs 1 compute unit for each chain. The service adds logos, websites and pools when the operation selects `logo`, `url` or `pool`: there is no argument for it. Null, with an error, when the lookup fails.",
  args: {
    ...chainArguments,
    ...builder.args((t) => ({
      assetClass: t.field({
        type: AssetClass,
        description: 'Only balances of this class, a list of its own. Default: all.',
      }),
      excludeSpam: t.boolean({
        required: true,
        defaultValue: false,
        description:
          "The service's own filter, a list of its own: no tokens with less than 100 US dollars of liquidity.",
      }),
      excludeUnpriced: t.boolean({
        required: true,
        defaultValue: false,
        description: "The service's own filter, a list of its own: no tokens without a price.",
      }),
      minPoolSizeUsd: t.field({
        type: 'Decimal',
        description:
          'Leaves out tokens whose price comes from a smaller pool, in US dollars; where the pool is unknown, those that the service states to have low liquidity. The native asset always stays. The gateway filters the pages that all filters share, so it costs nothing beside them, and reads at most 5 pages for one of its own. Default: no filter.',
      }),
    })),
    ...hoursArgument('each balance'),
  },
  list: ({ address }, chains, { assetClass = null, excludeSpam, excludeUnpriced }, context) => {
    const list = { address, chains, assetClass, excludeSpam, excludeUnpriced };
    noteList(context.lookups, list);
    return list;
  },
  reading: ({
    assetClass = null,
    excludeSpam,
    excludeUnpriced,
    minPoolSizeUsd = null,
    priceHoursAgo = null,
  }) => ({
    filters: [assetClass, excludeSpam, excludeUnpriced],
    details: detailsOfHours(priceHoursAgo),
    filter: minPoolSizeUsd === null ? null : { key: minPoolSizeUsd, passes: hasPoolOf(minPoolSizeUsd) },
    map: { fields: HISTORY, item: withHours(priceHoursAgo) },
  }),
  advice: 'Balances cost one compute unit for each chain: select fewer chains by chainIds.',
});
