import type { ExecutionResult } from 'graphql';
import type { PartFormat } from './accepted-parts.ts';

/** How a transport sends the parts of one answer. */
export type PartWriter = {
  readonly format: PartFormat;
  /** Sends a part, in pieces of its JSON. Calls `onWritten` when the pieces are not used any more. */
  write(json: readonly Buffer[], onWritten: () => void): void;
  /** Sends the last part, and ends the answer. Absent where the protocol sends that part as any other result. */
  end?(json: string): void;
};

/** The last part of an answer: what concerns the operation as a whole. */
export type LastPart = ExecutionResult & {
  readonly hasNext: false;
  /** In the format `v0.2`, the parts that were announced and do not come. */
  readonly completed?: readonly object[];
};

/** An answer in parts, as a transport ends it. */
export type PartedAnswer = {
  readonly format: PartFormat;
  /** Whether a part is sent. */
  readonly hasBegun: boolean;
  /**
   * Returns the last part; null where no part is sent, so that the answer is a single result. `result` is that of the
   * pipeline. No other part is sent from now on.
   */
  finish(result: ExecutionResult): LastPart | null;
  /** Sends what `finish` returns. */
  end(result: ExecutionResult): void;
};
