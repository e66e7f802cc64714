import { CHAINS } from '../chains.ts';
import { demoAddress } from '../demo-wallets.ts';
import { airdropSpam } from '../transactions/airdrop.ts';
import { approveCoin, approveMarketplace, approveUnique } from '../transactions/approvals.ts';
import * as odd from '../transactions/edge-cases.ts';
import { buyOnMarket, sellOnMarket } from '../transactions/market.ts';
import * as collecting from '../transactions/nfts.ts';
import * as payments from '../transactions/payments.ts';
import * as swaps from '../transactions/swaps.ts';
import type { Scene } from '../transactions/template-context.ts';
import { unwrap, wrap } from '../transactions/wrapping.ts';
import type { Hex } from '../types.ts';

/** What a demo wallet is like: how much it did, where, and what it tends to do. */
export type Persona = {
  readonly wallet: Hex;
  readonly chainIds: readonly number[];
  /** Transactions of its history. */
  readonly past: number;
  readonly habits: readonly (readonly [Scene, number])[];
  /** How likely it acts in a live block of one of its chains. */
  readonly live: number;
};

const persona = (
  name: string,
  chainIds: readonly number[],
  past: number,
  habits: Persona['habits'],
  live = 0,
): Persona => ({ wallet: demoAddress(name), chainIds, past, habits, live });

const LIVE = CHAINS.filter((chain) => chain.live).map((chain) => chain.id);
const HOME = [1, 8453, 137];

const money: Persona['habits'] = [
  [payments.sendNative, 4],
  [payments.receiveNative, 4],
  [payments.sendCoin, 6],
  [payments.receiveCoin, 6],
];
const trading: Persona['habits'] = [
  [swaps.swapAlongPath, 5],
  [swaps.swapNative, 3],
  [swaps.swapByTuple, 5],
];
const nfts: Persona['habits'] = [
  [collecting.mintUnique, 2],
  [collecting.mintEditions, 1],
  [collecting.sendUnique, 2],
  [collecting.sendEditions, 1],
  [collecting.burnUnique, 1],
];

export const PERSONAS: readonly Persona[] = [
  persona(
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
      [collecting.sendBatch, 1],
      [swaps.swapSeveral, 1],
      [odd.registerName, 0.3],
      [odd.callUnknown, 1],
      [odd.failSwap, 0.5],
    ],
    0.25,
  ),
  persona('collector', HOME, 170, [
    [collecting.mintDrop, 9],
    [collecting.mintEditions, 1],
  ]),
  persona(
    'buried',
    HOME,
    320,
    [
      [airdropSpam, 19],
      [collecting.mintUnique, 1],
    ],
    0.02,
  ),
  persona(
    'metronome',
    LIVE,
    240,
    [...money, ...trading, ...nfts, [approveCoin, 2], [wrap, 1], [unwrap, 1], [collecting.burnEditions, 1]],
    1,
  ),
  persona(
    'deployer',
    [1, 10, 8453, 42161],
    64,
    [
      [odd.createContract, 3],
      [payments.receiveNative, 1],
    ],
    0.02,
  ),
  persona(
    'unlucky',
    HOME,
    120,
    [
      [odd.failTransfer, 3],
      [odd.failSwap, 3],
      [payments.receiveNative, 1],
    ],
    0.02,
  ),
  persona(
    'enigma',
    [1, 56, 42161],
    140,
    [
      [odd.callUnknown, 4],
      [odd.callUnlisted, 2],
    ],
    0.02,
  ),
  persona(
    'batcher',
    HOME,
    150,
    [
      [collecting.mintEditions, 3],
      [collecting.sendBatch, 3],
      [swaps.swapSeveral, 2],
      [swaps.swapAlongPath, 2],
    ],
    0.02,
  ),
  persona(
    'structured',
    [1, 10, 42161],
    130,
    [
      [swaps.swapByTuple, 3],
      [buyOnMarket, 2],
    ],
    0.02,
  ),
  persona(
    'swapper',
    [1, 10, 137, 8453, 42161],
    420,
    [...trading, [swaps.swapSeveral, 1], [approveCoin, 2]],
    0.12,
  ),
  persona(
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
  persona(
    'approver',
    HOME,
    110,
    [
      [approveCoin, 5],
      [approveMarketplace, 3],
      [approveUnique, 2],
      [collecting.mintUnique, 1],
    ],
    0.04,
  ),
  persona(
    'minter',
    HOME,
    90,
    [
      [collecting.mintUnique, 3],
      [collecting.mintEditions, 2],
    ],
    0.1,
  ),
  persona(
    'burner',
    HOME,
    130,
    [
      [collecting.mintUnique, 2],
      [collecting.mintEditions, 1],
      [collecting.burnUnique, 3],
      [collecting.burnEditions, 2],
    ],
    0.04,
  ),
  persona(
    'namer',
    [1, 8453],
    60,
    [
      [odd.registerName, 3],
      [payments.receiveNative, 1],
    ],
    0.02,
  ),
  persona(
    'wrapper',
    [1, 10, 42161],
    120,
    [
      [wrap, 1],
      [unwrap, 1],
    ],
    0.04,
  ),
  persona(
    'payer',
    [1, 137, 8453, 42220],
    380,
    [
      [payments.payStablecoin, 9],
      [payments.receiveCoin, 2],
    ],
    0.1,
  ),
  persona(
    'receiver',
    [1, 56, 100, 137],
    180,
    [
      [payments.receiveNative, 1],
      [payments.receiveCoin, 2],
    ],
    0.05,
  ),
  persona('newcomer', [8453], 1, [[payments.receiveNative, 1]]),
  persona('hundred', [1, 10], 100, money),
  persona('palmist', [11297108109], 75, [...money, ...nfts]),
  persona('tester', [11155111, 84532, 80002, 31337, 1223, 164], 140, [
    ...money,
    ...nfts,
    [odd.createContract, 1],
  ]),
  persona(
    'editions',
    [137, 7777777],
    80,
    [
      [collecting.mintVastEditions, 2],
      [collecting.sendEditions, 1],
    ],
    0.02,
  ),
  persona('early', LIVE, 12, [
    [payments.receiveNative, 1],
    [payments.sendNative, 1],
  ]),
];

/** It gets one of every collection that launches as the sandbox starts. */
export const EARLY = demoAddress('early');
