import { builder } from '../graph/builder.ts';
import { clientError } from '../graph/errors.ts';
import { parseAddress } from '../graph/scalars.ts';

const MAX_WALLETS = 100;

/** An address is all that a wallet is: what it holds and did are connections that other features add. */
export const Wallet = builder.objectRef<{ readonly address: string }>('Wallet');

builder.node(Wallet, {
  description: 'Any address. Needs no upstream request by itself: its connections make them.',
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
    args: { address: t.arg({ type: 'Address', required: true, description: 'Whose wallet.' }) },
    resolve: (_root, { address }) => ({ address }),
  }),
  wallets: t.field({
    type: [Wallet],
    description: `The wallets of these addresses, in their order; at most ${MAX_WALLETS}.`,
    args: { addresses: t.arg({ type: ['Address'], required: true, description: 'Whose wallets.' }) },
    resolve: (_root, { addresses }) => {
      if (addresses.length > MAX_WALLETS)
        throw clientError(
          'OPERATION_TOO_COMPLEX',
          `Expected at most ${MAX_WALLETS} addresses, got ${addresses.length}.`,
        );
      return addresses.map((address) => ({ address }));
    },
  }),
}));
