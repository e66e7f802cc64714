import type { Hex, Transaction } from '../../../src/backend/types.ts';
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
} from '../../backend/dispatch/support/builders.ts';

const hashOf = (index: number): Hex => `0x${(index + 1).toString(16).padStart(64, '0')}`;

/** Alice's transactions of two blocks, by name. */
const ACTIONS = {
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
      transfer({ from: ROUTER, to: ALICE, token: WETH, value: swap().bought.value }),
      swap(),
    ],
  },
  'calls the router': { to: ROUTER, data: UNKNOWN_CALL },
  'pays Bob on Base': { value: 1n, effects: [nativeTransfer()] },
} satisfies Record<string, Partial<Transaction>>;

export type Action = keyof typeof ACTIONS;

export const ACTION_NAMES = Object.keys(ACTIONS) as Action[];

/** The name of the transaction with this hash. */
export const actionOf = (hash: string): string => ACTION_NAMES[Number(hash) - 1] ?? hash;

const transactionOf = (name: Action): Transaction =>
  transaction({
    ...ACTIONS[name],
    index: ACTION_NAMES.indexOf(name),
    hash: hashOf(ACTION_NAMES.indexOf(name)),
  });

const onBase = (name: Action) => name.endsWith('on Base');

/** The two blocks: one of Ethereum and one of Base. */
export const BLOCKS = [
  block(ACTION_NAMES.filter((name) => !onBase(name)).map(transactionOf)),
  block(ACTION_NAMES.filter(onBase).map(transactionOf), BASE),
];
