import { CHAINS } from '../chains.ts';
import { demoAddress } from '../demo-wallets.ts';
import { airdropSpam } from '../transactions/airdrop.ts';
import { approveCoin, approveMarketplace, approveUnique } from '../transactions/approvals.ts';
import * as edgeCases from '../transactions/edge-cases.ts';
import { buyOnMarket, sellOnMarket } from '../transactions/market.ts';
import * as nftTemplates from '../transactions/nfts.ts';
import * as payments from '../transactions/payments.ts';
import * as swaps from '../transactions/swaps.ts';
import type { TransactionTemplate } from '../transactions/template-context.ts';
import { unwrap, wrap } from '../transactions/wrapping.ts';
import type { Hex } from '../types.ts';

/** What a demo wallet is like: how much it did, where, and what it tends to do. */
export type WalletProfile = {
  readonly wallet: Hex;
  readonly chainIds: readonly number[];
  /** Transactions of its history. */
  readonly past: number;
  readonly habits: readonly (readonly [TransactionTemplate, number])[];
  /** How likely it acts in a live block of one of its chains. */
  readonly live: number;
};

const profile = (
  name: string,
  chainIds: readonly number[],
  past: number,
  habits: WalletProfile['habits'],
  live = 0,
): WalletProfile => ({ wallet: demoAddress(name), chainIds, past, habits, live });

const LIVE = CHAINS.filter((chain) => chain.live).map((chain) => chain.id);
const HOME = [1, 8453, 137];

const money: WalletProfile['habits'] = [
  [payments.sendNative, 4],
  [payments.receiveNative, 4],
  [payments.sendCoin, 6],
  [payments.receiveCoin, 6],
];
const trading: WalletProfile['habits'] = [
  [swaps.swapAlongPath, 5],
  [swaps.swapNative, 3],
  [swaps.swapByTuple, 5],
];
const nfts: WalletProfile['habits'] = [
  [nftTemplates.mintUnique, 2],
  [nftTemplates.mintEditions, 1],
  [nftTemplates.sendUnique, 2],
  [nftTemplates.sendEditions, 1],
  [nftTemplates.burnUnique, 1],
];

export const WALLET_PROFILES: readonly WalletProfile[] = [
  profile(
    'whale',
    [1, 10, 56, 100, 137, 8453, 42161, 42220, 43114],
    5_200,
    [
      ...money,
      ...trading,
      ...nfts,
      [approveCoin, 3],
      [wrap, 2],
      [unwrap, 2],
      [buyOnMarket, 1],
      [sellOnMarket, 1],
      [nftTemplates.sendBatch, 1],
      [swaps.swapSeveral, 1],
      [edgeCases.registerName, 0.3],
      [edgeCases.callUnknown, 1],
      [edgeCases.failSwap, 0.5],
    ],
    0.25,
  ),
  profile('collector', HOME, 170, [
    [nftTemplates.mintDrop, 9],
    [nftTemplates.mintEditions, 1],
  ]),
  profile(
    'buried',
    HOME,
    320,
    [
      [airdropSpam, 19],
      [nftTemplates.mintUnique, 1],
    ],
    0.02,
  ),
  profile(
    'metronome',
    LIVE,
    240,
    [...money, ...trading, ...nfts, [approveCoin, 2], [wrap, 1], [unwrap, 1], [nftTemplates.burnEditions, 1]],
    1,
  ),
  profile(
    'deployer',
    [1, 10, 8453, 42161],
    64,
    [
      [edgeCases.createContract, 3],
      [payments.receiveNative, 1],
    ],
    0.02,
  ),
  profile(
    'unlucky',
    HOME,
    120,
    [
      [edgeCases.failTransfer, 3],
      [edgeCases.failSwap, 3],
      [payments.receiveNative, 1],
    ],
    0.02,
  ),
  profile(
    'enigma',
    [1, 56, 42161],
    140,
    [
      [edgeCases.callUnknown, 4],
      [edgeCases.callUnlisted, 2],
    ],
    0.02,
  ),
  profile(
    'batcher',
    HOME,
    150,
    [
      [nftTemplates.mintEditions, 3],
      [nftTemplates.sendBatch, 3],
      [swaps.swapSeveral, 2],
      [swaps.swapAlongPath, 2],
    ],
    0.02,
  ),
  profile(
    'structured',
    [1, 10, 42161],
    130,
    [
      [swaps.swapByTuple, 3],
      [buyOnMarket, 2],
    ],
    0.02,
  ),
  profile(
    'swapper',
    [1, 10, 137, 8453, 42161],
    420,
    [...trading, [swaps.swapSeveral, 1], [approveCoin, 2]],
    0.12,
  ),
  profile(
    'flipper',
    HOME,
    210,
    [
      [buyOnMarket, 3],
      [sellOnMarket, 3],
      [approveMarketplace, 1],
    ],
    0.08,
  ),
  profile(
    'approver',
    HOME,
    110,
    [
      [approveCoin, 5],
      [approveMarketplace, 3],
      [approveUnique, 2],
      [nftTemplates.mintUnique, 1],
    ],
    0.04,
  ),
  profile(
    'minter',
    HOME,
    90,
    [
      [nftTemplates.mintUnique, 3],
      [nftTemplates.mintEditions, 2],
    ],
    0.1,
  ),
  profile(
    'burner',
    HOME,
    130,
    [
      [nftTemplates.mintUnique, 2],
      [nftTemplates.mintEditions, 1],
      [nftTemplates.burnUnique, 3],
      [nftTemplates.burnEditions, 2],
    ],
    0.04,
  ),
  profile(
    'namer',
    [1, 8453],
    60,
    [
      [edgeCases.registerName, 3],
      [payments.receiveNative, 1],
    ],
    0.02,
  ),
  profile(
    'wrapper',
    [1, 10, 42161],
    120,
    [
      [wrap, 1],
      [unwrap, 1],
    ],
    0.04,
  ),
  profile(
    'payer',
    [1, 137, 8453, 42220],
    380,
    [
      [payments.payStablecoin, 9],
      [payments.receiveCoin, 2],
    ],
    0.1,
  ),
  profile(
    'receiver',
    [1, 56, 100, 137],
    180,
    [
      [payments.receiveNative, 1],
      [payments.receiveCoin, 2],
    ],
    0.05,
  ),
  profile('newcomer', [8453], 1, [[payments.receiveNative, 1]]),
  profile('hundred', [1, 10], 100, money),
  profile('palmist', [11297108109], 75, [...money, ...nfts]),
  profile('tester', [11155111, 84532, 80002, 31337, 1223, 164], 140, [
    ...money,
    ...nfts,
    [edgeCases.createContract, 1],
  ]),
  profile(
    'editions',
    [137, 7777777],
    80,
    [
      [nftTemplates.mintVastEditions, 2],
      [nftTemplates.sendEditions, 1],
    ],
    0.02,
  ),
  profile('early', LIVE, 12, [
    [payments.receiveNative, 1],
    [payments.sendNative, 1],
  ]),
];

/** It gets one of every collection that launches as the sandbox starts. */
export const EARLY = demoAddress('early');
