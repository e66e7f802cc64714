import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Context } from '../../../context.ts';
import { onAbort } from '../../../lib/abort.ts';
import type { MemoryBudget } from '../../../lib/memory-budget.ts';

/** A WebSocket's room for the answers to its operations. */
export type SocketMemory = {
  readonly memory: MemoryBudget;
  /** Resolves when the peer has taken enough for another operation to begin, or has gone. */
  untilDrained(): Promise<void>;
};

type ServerContext = Partial<Pick<Context, 'answer'>> & {
  /** Of the WebSocket that the operation came by. */
  readonly socketMemory?: SocketMemory;
  readonly clientSignal?: AbortSignal;
};

/** A limit of the estimated bytes of one socket's heavy answers, from when they are begun until the peer has taken them. */
export const SOCKET_BYTES = 32 * 1024 * 1024;
/** An operation whose answer is estimated at no more does not wait. */
const LIGHT_BYTES = 256 * 1024;

/**
 * Backpressure for the heavy operations of one WebSocket: they wait for one another, so that their answers do not pile up
 * unsent. One of them always runs.
 */
export const useSocketMemory = (): Plugin<ServerContext> => ({
  onExecute({ args: { contextValue }, executeFn, setExecuteFn }) {
    const { socketMemory, answer, clientSignal = null } = contextValue;
    const bytes = answer?.estimate?.bytes ?? 0;
    if (!socketMemory || bytes <= LIGHT_BYTES) return;
    setExecuteFn(async (args): Promise<ExecutionResult> => {
      const reservation = socketMemory.memory.reserve();
      reservation.grow(bytes);
      const stopListening = onAbort(clientSignal, reservation.release);
      const release = () => {
        stopListening();
        reservation.release();
      };
      try {
        while (!reservation.isAvailable() && !clientSignal?.aborted) await reservation.available();
        return await executeFn(args);
      } finally {
        // The answer is sent within this turn of the event loop.
        setImmediate(() => void socketMemory.untilDrained().then(release));
      }
    });
  },
});
