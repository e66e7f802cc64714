import type { Hex, Transaction } from '../../../src/sandbox/types.ts';
import {
  ALICE,
  APES,
  approval,
  BASE,
  block,
  CAROL,
  KNOWN_CALL,
  nativeTransfer,
  nftTransfer,
  ROUTER,
  swap,
  transaction,
  transfer,
  UNKNOWN_CALL,
  USDC,
  WETH,
} from '../../sandbox/webhooks/support/builders.ts';

const hashOf = (index: number): Hex => `0x${(index + 1).toString(16).padStart(64, '0')}`;

/** What Alice did on one day, each in a transaction of its own. */
const DEEDS = {
  'pays Bob': { value: 1n, effects: [nativeTransfer()] },
  'is paid by Carol': {
    from: CAROL,
    to: ALICE,
    value: 1n,
    effects: [nativeTransfer({ from: CAROL, to: ALICE })],
  },
  'sends USDC': { to: USDC, data: KNOWN_CALL, effects: [transfer()] },
  'approves USDC': { to: USDC, data: KNOWN_CALL, effects: [approval()] },
  'gives away an ape': { to: APES, data: UNKNOWN_CALL, effects: [nftTransfer()] },
  'swaps USDC for WETH': {
    to: ROUTER,
    data: UNKNOWN_CALL,
    effects: [
      transfer({ to: ROUTER }),
      transfer({ from: ROUTER, to: ALICE, token: WETH, value: swap().bought.value, toAfter: 9n }),
      swap(),
    ],
  },
  'calls the router': { to: ROUTER, data: UNKNOWN_CALL },
  'pays Bob on Base': { value: 1n, effects: [nativeTransfer()] },
} satisfies Record<string, Partial<Transaction>>;

export type Deed = keyof typeof DEEDS;

export const DEED_NAMES = Object.keys(DEEDS) as Deed[];

/** The deed that a transaction's hash stands for. */
export const deedOf = (hash: string): string => DEED_NAMES[Number(hash) - 1] ?? hash;

const done = (name: Deed): Transaction =>
  transaction({ ...DEEDS[name], index: DEED_NAMES.indexOf(name), hash: hashOf(DEED_NAMES.indexOf(name)) });

const onBase = (name: Deed) => name.endsWith('on Base');

/** The day's two blocks: Ethereum's and Base's. */
export const DAY = [
  block(DEED_NAMES.filter((name) => !onBase(name)).map(done)),
  block(DEED_NAMES.filter(onBase).map(done), BASE),
];
