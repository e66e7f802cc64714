import type { Hex } from '../../types.ts';
import { CHAINS } from '../chains.ts';
import { addressOf } from '../random.ts';
import * as edgeCases from '../transactions/edge-cases.ts';
import * as nfts from '../transactions/nfts.ts';
import * as payments from '../transactions/payments.ts';
import * as swaps from '../transactions/swaps.ts';
import type { TransactionTemplate } from '../transactions/templates.ts';

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
  wallet('namer', 'registers names, with token ids of 77 digits, and has one itself'),
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

/** The primary names of some of them on Ethereum. */
export const PRIMARY_NAMES: ReadonlyMap<Hex, string> = new Map(
  ['whale', 'collector', 'metronome', 'swapper', 'namer', 'defi'].map((name) => [
    demoAddress(name),
    `${name}.sandbox.eth`,
  ]),
);

/** The wallets that the demo webhooks are subscribed to: those with the most live transactions. */
export const DEMO_SUBSCRIBERS: readonly Hex[] = [
  'metronome',
  'swapper',
  'flipper',
  'minter',
  'payer',
  'receiver',
].map(demoAddress);

/** How one demo wallet behaves: on which chains it transacts, how often, and by which templates. */
export type WalletProfile = {
  readonly wallet: Hex;
  readonly chainIds: readonly number[];
  /** The number of transactions in its history. */
  readonly pastTransactions: number;
  /** The probability that it transacts in a live block of one of its chains. */
  readonly liveProbability: number;
  /** Each template with its weight: how often it is picked, in proportion to the sum of all weights. */
  readonly templates: readonly (readonly [TransactionTemplate, weight: number])[];
};

const TEMPLATES = {
  ...payments,
  ...swaps,
  ...nfts,
  ...edgeCases,
};

type TemplateName = keyof typeof TEMPLATES;
type Weights = Readonly<Partial<Record<TemplateName, number>>>;

type Behaviour = {
  readonly chainIds: readonly number[];
  readonly pastTransactions: number;
  /** Default: 0, the wallet has no live transactions. */
  readonly liveProbability?: number;
  /** The order of the names counts: the same seed picks other templates in another order. */
  readonly templates: Weights;
};

const LIVE_CHAINS = CHAINS.filter((chain) => chain.live).map((chain) => chain.id);
const HOME_CHAINS = [1, 8453, 137];
const WHALE_CHAINS = [1, 10, 56, 100, 137, 8453, 42161, 42220, 43114];
const TEST_CHAINS = [11155111, 84532, 80002, 31337, 1223, 164];

const PAYMENTS: Weights = { sendNative: 4, receiveNative: 4, sendCoin: 6, receiveCoin: 6 };
const SWAPS: Weights = { swapAlongPath: 5, swapNative: 3, swapByTuple: 5 };
const NFTS: Weights = { mintUnique: 2, mintEditions: 1, sendUnique: 2, sendEditions: 1, burnUnique: 1 };

/** By the wallet's name; the demo wallets that are missing here have no transactions. */
const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  whale: {
    chainIds: WHALE_CHAINS,
    pastTransactions: 5_200,
    liveProbability: 0.25,
    templates: {
      ...PAYMENTS,
      ...SWAPS,
      ...NFTS,
      approveCoin: 3,
      wrap: 2,
      unwrap: 2,
      buyOnMarket: 1,
      sellOnMarket: 1,
      sendBatch: 1,
      swapSeveral: 1,
      registerName: 0.3,
      callUnknown: 1,
      failSwap: 0.5,
    },
  },
  collector: {
    chainIds: HOME_CHAINS,
    pastTransactions: 170,
    templates: { mintDrop: 9, mintEditions: 1 },
  },
  buried: {
    chainIds: HOME_CHAINS,
    pastTransactions: 320,
    liveProbability: 0.02,
    templates: { airdropSpam: 19, mintUnique: 1 },
  },
  metronome: {
    chainIds: LIVE_CHAINS,
    pastTransactions: 240,
    liveProbability: 1,
    templates: { ...PAYMENTS, ...SWAPS, ...NFTS, approveCoin: 2, wrap: 1, unwrap: 1, burnEditions: 1 },
  },
  deployer: {
    chainIds: [1, 10, 8453, 42161],
    pastTransactions: 64,
    liveProbability: 0.02,
    templates: { createContract: 3, receiveNative: 1 },
  },
  unlucky: {
    chainIds: HOME_CHAINS,
    pastTransactions: 120,
    liveProbability: 0.02,
    templates: { failTransfer: 3, failSwap: 3, receiveNative: 1 },
  },
  enigma: {
    chainIds: [1, 56, 42161],
    pastTransactions: 140,
    liveProbability: 0.02,
    templates: { callUnknown: 4, callUnlisted: 2 },
  },
  batcher: {
    chainIds: HOME_CHAINS,
    pastTransactions: 150,
    liveProbability: 0.02,
    templates: { mintEditions: 3, sendBatch: 3, swapSeveral: 2, swapAlongPath: 2 },
  },
  structured: {
    chainIds: [1, 10, 42161],
    pastTransactions: 130,
    liveProbability: 0.02,
    templates: { swapByTuple: 3, buyOnMarket: 2 },
  },
  swapper: {
    chainIds: [1, 10, 137, 8453, 42161],
    pastTransactions: 420,
    liveProbability: 0.12,
    templates: { ...SWAPS, swapSeveral: 1, approveCoin: 2 },
  },
  flipper: {
    chainIds: HOME_CHAINS,
    pastTransactions: 210,
    liveProbability: 0.08,
    templates: { buyOnMarket: 3, sellOnMarket: 3, approveMarketplace: 1 },
  },
  approver: {
    chainIds: HOME_CHAINS,
    pastTransactions: 110,
    liveProbability: 0.04,
    templates: { approveCoin: 5, approveMarketplace: 3, approveUnique: 2, mintUnique: 1 },
  },
  minter: {
    chainIds: HOME_CHAINS,
    pastTransactions: 90,
    liveProbability: 0.1,
    templates: { mintUnique: 3, mintEditions: 2 },
  },
  burner: {
    chainIds: HOME_CHAINS,
    pastTransactions: 130,
    liveProbability: 0.04,
    templates: { mintUnique: 2, mintEditions: 1, burnUnique: 3, burnEditions: 2 },
  },
  namer: {
    chainIds: [1, 8453],
    pastTransactions: 60,
    liveProbability: 0.02,
    templates: { registerName: 3, receiveNative: 1 },
  },
  wrapper: {
    chainIds: [1, 10, 42161],
    pastTransactions: 120,
    liveProbability: 0.04,
    templates: { wrap: 1, unwrap: 1 },
  },
  payer: {
    chainIds: [1, 137, 8453, 42220],
    pastTransactions: 380,
    liveProbability: 0.1,
    templates: { payStablecoin: 9, receiveCoin: 2 },
  },
  receiver: {
    chainIds: [1, 56, 100, 137],
    pastTransactions: 180,
    liveProbability: 0.05,
    templates: { receiveNative: 1, receiveCoin: 2 },
  },
  newcomer: { chainIds: [8453], pastTransactions: 1, templates: { receiveNative: 1 } },
  hundred: { chainIds: [1, 10], pastTransactions: 100, templates: PAYMENTS },
  palmist: { chainIds: [11297108109], pastTransactions: 75, templates: { ...PAYMENTS, ...NFTS } },
  tester: {
    chainIds: TEST_CHAINS,
    pastTransactions: 140,
    templates: { ...PAYMENTS, ...NFTS, createContract: 1 },
  },
  editions: {
    chainIds: [137, 7777777],
    pastTransactions: 80,
    liveProbability: 0.02,
    templates: { mintVastEditions: 2, sendEditions: 1 },
  },
  early: { chainIds: LIVE_CHAINS, pastTransactions: 12, templates: { receiveNative: 1, sendNative: 1 } },
};

const weighted = (weights: Weights): WalletProfile['templates'] =>
  Object.entries(weights).map(([name, weight]) => [TEMPLATES[name as TemplateName], weight]);

export const WALLET_PROFILES: readonly WalletProfile[] = Object.entries(BEHAVIOURS).map(
  ([name, { templates, liveProbability = 0, ...behaviour }]) => ({
    ...behaviour,
    wallet: demoAddress(name),
    liveProbability,
    templates: weighted(templates),
  }),
);

/** The wallet that receives one NFT of each collection that launches when the sandbox starts. */
export const EARLY_ADOPTER: Hex = demoAddress('early');
