import { addressOf } from './evm/random.ts';
import type { Hex } from './types.ts';

/** A wallet with data in the sandbox. Every other address answers as an empty wallet. */
export type DemoWallet = { readonly name: string; readonly address: Hex; readonly shows: string };

const wallet = (name: string, shows: string): DemoWallet => ({
  name,
  address: addressOf(`demo wallet: ${name}`),
  shows,
});

/** The demo wallets. Their addresses never change, whatever the seed. */
export const DEMO_WALLETS: readonly DemoWallet[] = [
  wallet('whale', 'more than 5,000 transactions of every kind, over 9 chains'),
  wallet('collector', 'more than 3,000 collectibles, minted in batches'),
  wallet('buried', 'a few real collectibles under hundreds of airdropped spam'),
  wallet('empty', 'no transaction and no collectible'),
  wallet('metronome', 'transacts in every live block'),
  wallet('deployer', 'creates contracts: `to` is null'),
  wallet('unlucky', 'calls that failed: no logs, nothing moved'),
  wallet('enigma', 'calls and logs of unknown contracts, which never decode'),
  wallet('batcher', 'array inputs: batch transfers, multicalls, paths'),
  wallet('structured', 'tuple inputs, nested ones too'),
  wallet('swapper', 'swaps through both routers'),
  wallet('flipper', 'buys and sells on the marketplace: sale prices'),
  wallet('approver', 'approvals, unlimited ones, and their revocation'),
  wallet('minter', 'mints, in live blocks too: new collectibles at the head'),
  wallet('burner', 'burns what it minted'),
  wallet('namer', 'registers names, with token ids of 77 digits'),
  wallet('wrapper', 'wraps and unwraps the native asset'),
  wallet('payer', 'pays out in stablecoins'),
  wallet('receiver', 'only ever receives, never sends'),
  wallet('newcomer', 'one single transaction'),
  wallet('hundred', 'exactly 100 transactions: one full page, and no next_offset'),
  wallet('palmist', 'a chain whose id is beyond 2^31-1'),
  wallet('tester', 'testnets and devnets only: nothing under the default tag'),
  wallet('editions', 'ERC-1155 balances beyond 2^53'),
  wallet('early', 'a collection launched less than 7 days ago: no trade_volume signal'),
  wallet(
    'thin',
    'tokens of thin pools: prices of 1e21 dollars, and one that first traded 30 hours before the start',
  ),
  wallet('unpriced', 'tokens without a price, a symbol or decimals'),
  wallet('dust', '2,500 balances, absurd ones among them: three pages'),
  wallet('native', 'native assets only, on three chains'),
  wallet('stable', 'stablecoins of each kind, the native asset of Gnosis among them'),
  wallet('defi', 'a DeFi position of each type, a debt, and an undocumented type'),
  wallet('caller', 'many items in one transaction, equal ones too'),
];

/**
 * The address of the demo wallet with this name.
 * @throws when no demo wallet has that name.
 */
export const demoAddress = (name: string): Hex => {
  const found = DEMO_WALLETS.find((each) => each.name === name);
  if (found === undefined) throw new Error(`expected the name of a demo wallet, got ${name}`);
  return found.address;
};

/** The wallets that the demo webhooks are subscribed to: those with the most live transactions. */
export const DEMO_SUBSCRIBERS: readonly Hex[] = [
  'metronome',
  'swapper',
  'flipper',
  'minter',
  'payer',
  'receiver',
].map(demoAddress);
