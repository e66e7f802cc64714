import { withScope } from '../graph/authorization.ts';
import { builder } from '../graph/builder.ts';
import { withCost } from '../graph/cost/field-cost.ts';
import { clientError } from '../graph/errors.ts';
import type { GlobalId } from '../graph/global-id.ts';
import { ofPages } from '../graph/plan/inspect-document.ts';
import { derivedField } from '../graph/plan/plannable.ts';
import { parseAddress } from '../graph/scalars.ts';
import { globalId } from '../upstream/parse/derived.ts';

const MAX_WALLETS = 100;

/** A wallet is an address. Other features add the connections of what it holds and did. */
export const Wallet = builder.objectRef<{ readonly address: string }>('Wallet');

const ID = derivedField(globalId('Wallet', 'address'));

builder.node(Wallet, {
  description: 'An EVM address. A wallet causes no upstream request by itself: its connections do.',
  extensions: withScope('wallets'),
  id: { extensions: ID.extensions, resolve: ({ address }) => address },
  loadOne: (address) => ({ address: parseAddress(address) }),
  fields: (t) => ({
    address: t.expose('address', { type: 'Address', description: 'The address, in lower case.' }),
  }),
});

builder.queryFields((t) => ({
  wallet: t.field({
    type: Wallet,
    description:
      'The wallet with this address. Every address has a wallet: the connections of an unused one are empty.',
    authScopes: { wallets: true },
    args: { address: t.arg({ type: 'Address', required: true, description: 'The address of the wallet.' }) },
    extensions: {
      ...ofPages(),
      ...withCost<{ address: string }>({ returns: ({ address }) => [globalIdOf(address)] }),
    },
    resolve: (_root, { address }) => ({ address }),
  }),
  wallets: t.field({
    type: [Wallet],
    description: `The wallets with these addresses, each once, in the order in which they first appear. Fails with OPERATION_TOO_COMPLEX for more than ${MAX_WALLETS} addresses.`,
    authScopes: { wallets: true },
    args: {
      addresses: t.arg({
        type: ['Address'],
        required: true,
        description: `The addresses of the wallets, at most ${MAX_WALLETS}.`,
      }),
    },
    extensions: {
      ...ofPages(),
      ...withCost<{ addresses: readonly string[] }>({
        returns: ({ addresses }) =>
          addresses.length > MAX_WALLETS ? [] : distinct(addresses).map(globalIdOf),
      }),
    },
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
