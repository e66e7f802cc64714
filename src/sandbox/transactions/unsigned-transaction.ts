import type { Event, Method } from '../evm/abi.ts';
import type { Effect, Hex, LogEntry } from '../types.ts';

/** A call by its method and arguments, or as raw bytes; encoded only when somebody looks at it. */
type Call = { readonly method: Method; readonly args: readonly unknown[] } | Hex;

/** A log by its event and arguments, or as it is. */
type Emitted = { readonly address: Hex; readonly event: Event; readonly args: readonly unknown[] } | LogEntry;

/** What a transaction does, before it has a place in a block. */
export type UnsignedTransaction = {
  readonly from: Hex;
  /** Null when a contract is created. */
  readonly to: Hex | null;
  readonly value: bigint;
  readonly call: Call;
  readonly logs: readonly Emitted[];
  readonly effects: readonly Effect[];
  readonly gas: number;
  readonly success: boolean;
};

/** Part of what a transaction does: effects, and the logs that tell of them. */
export type Step = { readonly effects: readonly Effect[]; readonly logs: readonly Emitted[] };

type Sent = {
  readonly from: Hex;
  readonly to: Hex | null;
  readonly call?: Call;
  readonly value?: bigint;
  readonly gas: number;
};

/** A transaction that went well, with its steps in order. */
export const done = (
  { call = '0x', value = 0n, ...sent }: Sent,
  ...steps: readonly Step[]
): UnsignedTransaction => ({
  ...sent,
  call,
  value,
  effects: steps.flatMap((step) => step.effects),
  logs: steps.flatMap((step) => step.logs),
  success: true,
});

/** A transaction that was reverted: it moved nothing and logged nothing. */
export const reverted = ({ call = '0x', value = 0n, ...sent }: Sent): UnsignedTransaction => ({
  ...sent,
  call,
  value,
  effects: [],
  logs: [],
  success: false,
});
