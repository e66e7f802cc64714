import { builder } from '../graph/builder.ts';
import { withCost } from '../graph/cost/field-cost.ts';
import { notOfPages } from '../graph/plan/inspect-document.ts';
import { NO_DETAILS } from '../upstream/page.ts';
import { offered } from './chains/chains.ts';
import { namesLookup } from './names-rest.ts';
import { Wallet } from './wallet.ts';

builder.objectField(Wallet, 'name', (t) =>
  t.string({
    nullable: true,
    description: `The primary name of the wallet, such as alice.eth, by the registry of a chain: the name of its reverse record, if that leads back to the wallet and is normalised. It costs ${namesLookup.price} compute unit, and is kept for an hour. Null, without an error, when it has none, and when no chain has names; null, with an error, when the lookup fails, or when \`Chain.supports\` of the chain lacks NAMES. Whoever owns a name chose it: show the address beside it.`,
    authScopes: { wallets: true },
    args: {
      chainId: t.arg({
        type: 'ChainId',
        description:
          'The chain whose registry counts. Default: the first one of `chains` that supports NAMES.',
      }),
    },
    extensions: {
      // Which chain has names is in the list of chains.
      ...notOfPages(),
      ...withCost<{ readonly chainId?: number | null }>({
        lookup: ({ chainId }) => ({
          list: [chainId ?? null],
          computeUnits: namesLookup.price,
          advice: 'Each name costs one compute unit: ask for those of fewer wallets.',
        }),
      }),
    },
    resolve: async ({ address }, { chainId }, context) => {
      const { chains, lookups } = context;
      if (chainId !== null && chainId !== undefined) {
        chains.assertKnown([chainId]);
        chains.assertSupported('NAMES', [chainId]);
      }
      const id = chainId ?? (await context.chainWith('NAMES'));
      if (id === null) return null;
      return offered('NAMES', namesLookup.read(lookups, { address, chains: String(id) }, NO_DETAILS));
    },
  }),
);

export const names = namesLookup;
