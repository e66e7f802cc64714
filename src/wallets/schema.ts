import { withScope } from '../graph/authorization.ts';
import { builder } from '../graph/builder.ts';
import { withCost } from '../graph/cost/field-cost.ts';
import { clientError } from '../graph/errors.ts';
import type { GlobalId } from '../graph/global-id.ts';
import { parseAddress } from '../graph/scalars.ts';

const MAX_WALLETS = 100;

/** An address is all that a wallet is: what it holds and did are connections that other features add. */
export const Wallet = builder.objectRef<{ readonly address: string }>('Wallet');

builder.node(Wallet, {
  description: 'Any address. Needs no upstream request by itself: its connections make them.',
  extensions: withScope('wallets'),
  id: { resolve: ({ address }) => address },
  loadOne: (address) => ({ address: parseAddress(address) }),
  fields: (t) => ({
    address: t.expose('address', { type: 'Address', description: 'In lower case.' }),
  }),
});

builder.queryFields((t) => ({
  wallet: t.field({
    type: Wallet,
    description:
      'The wallet of this address. There is one for every address: an unused one has empty connections.',
    authScopes: { wallets: true },
    args: { address: t.arg({ type: 'Address', required: true, description: 'Whose wallet.' }) },
    extensions: withCost<{ address: string }>({ returns: ({ address }) => [globalIdOf(address)] }),
    resolve: (_root, { address }) => ({ address }),
  }),
  wallets: t.field({
    type: [Wallet],
    description: `The wallets of these addresses, each once, in the order in which they first appear; at most ${MAX_WALLETS} addresses. More are OPERATION_TOO_COMPLEX.`,
    authScopes: { wallets: true },
    args: { addresses: t.arg({ type: ['Address'], required: true, description: 'Whose wallets.' }) },
    extensions: withCost<{ addresses: readonly string[] }>({
      returns: ({ addresses }) => (addresses.length > MAX_WALLETS ? [] : distinct(addresses).map(globalIdOf)),
    }),
    resolve: (_root, { addresses }) => {
      if (addresses.length > MAX_WALLETS)
        throw clientError(
          'OPERATION_TOO_COMPLEX',
          `Expected at most ${MAX_WALLETS} addresses, got ${addresses.length}.`,
        );
      return distinct(addresses).map((address) => ({ address }));
    },
  }),
}));

const distinct = (addresses: readonly string[]): readonly string[] => [...new Set(addresses)];

const globalIdOf = (address: string): GlobalId => ({ typename: 'Wallet', id: address });
