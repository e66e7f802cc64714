import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Context } from '../../context.ts';
import type { MemoryGate } from '../../lib/memory-gate.ts';
import { onAbort } from '../../upstream/patience.ts';

/** A WebSocket's room for the answers to its operations. */
export type SocketRoom = {
  readonly memory: MemoryGate;
  /** Resolves when the peer has taken enough for another operation to begin, or has gone. */
  untilTaken(): Promise<void>;
};

type Arrival = Partial<Pick<Context, 'answer'>> & {
  /** Of the WebSocket that the operation came by. */
  readonly socketRoom?: SocketRoom;
  readonly gone?: AbortSignal;
};

/** What all answers of one socket may come to, from when they are begun until they are taken. */
export const SOCKET_BYTES = 32 * 1024 * 1024;
/** What is estimated at less waits for nothing. */
const LIGHT_BYTES = 256 * 1024;

/**
 * Has heavy operations that came by one WebSocket wait for one another: what those come to that are under way at once
 * would else wait unsent. One at least goes on.
 */
export const useSocketRoom = (): Plugin<Arrival> => ({
  onExecute({ args: { contextValue }, executeFn, setExecuteFn }) {
    const { socketRoom, answer, gone = null } = contextValue;
    const bytes = answer?.estimate?.bytes ?? 0;
    if (!socketRoom || bytes <= LIGHT_BYTES) return;
    setExecuteFn(async (args): Promise<ExecutionResult> => {
      const share = socketRoom.memory.enter();
      share.take(bytes);
      const stopListening = onAbort(gone, share.leave);
      const leave = () => {
        stopListening();
        share.leave();
      };
      try {
        while (!share.hasRoom() && !gone?.aborted) await share.room();
        return await executeFn(args);
      } finally {
        // It is sent within the turn.
        setImmediate(() => void socketRoom.untilTaken().then(leave));
      }
    });
  },
});
