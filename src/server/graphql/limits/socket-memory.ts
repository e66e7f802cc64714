import type { ExecutionResult } from 'graphql';
import { onAbort } from '../../../lib/abort.ts';
import type { OperationPlugin } from '../operation-plugin.ts';

/** The limit for the estimated bytes of one socket's heavy answers, from the start of each until the peer has read it. */
export const SOCKET_BYTES = 32 * 1024 * 1024;
/** An operation whose answer is estimated at no more does not wait. */
const LIGHT_BYTES = 256 * 1024;

/**
 * Backpressure for the heavy operations of one WebSocket: they wait for one another, so that their answers don't pile up
 * unsent. One of them always runs.
 */
export const useSocketMemory = (): OperationPlugin => ({
  onExecute({ args: { contextValue }, executeFn, setExecuteFn }) {
    const { socketMemory, answer, clientSignal = null } = contextValue;
    const bytes = answer.estimate?.bytes ?? 0;
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
