import type { Event, Method } from '../evm/abi.ts';
import type { Effect, Hex, LogEntry } from '../types.ts';

/** A call by its method and arguments, or as raw bytes. It is encoded only when a reader needs its data. */
type Call = { readonly method: Method; readonly args: readonly unknown[] } | Hex;

/** A log by its event and arguments, or already encoded. */
type Emitted = { readonly address: Hex; readonly event: Event; readonly args: readonly unknown[] } | LogEntry;

/** The content of a transaction before it is mined. */
export type UnsignedTransaction = {
  readonly from: Hex;
  /** Null when the transaction creates a contract. */
  readonly to: Hex | null;
  readonly value: bigint;
  readonly call: Call;
  readonly logs: readonly Emitted[];
  readonly effects: readonly Effect[];
  readonly gas: number;
  readonly success: boolean;
};

/** A part of a transaction: its effects, and the logs that describe them. */
export type Step = { readonly effects: readonly Effect[]; readonly logs: readonly Emitted[] };

type Sent = {
  readonly from: Hex;
  readonly to: Hex | null;
  readonly call?: Call;
  readonly value?: bigint;
  readonly gas: number;
};

/** A successful transaction with its steps in order. */
export const succeeded = (
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

/** A reverted transaction, without effects and logs. */
export const reverted = ({ call = '0x', value = 0n, ...sent }: Sent): UnsignedTransaction => ({
  ...sent,
  call,
  value,
  effects: [],
  logs: [],
  success: false,
});
