import { allSettledWithin } from '../../lib/task-tracker.ts';
import { type Connection, close } from './connection.ts';
import { cancelUnstarted } from './operation-slots.ts';

/** Time for queries and mutations that have begun to be answered. */
export const DRAIN_MS = 5000;

/**
 * Closes a connection so that its client, who then asks elsewhere for all that it got no `complete` for, has nothing
 * done twice. From here on nothing begins on it, and its subscriptions are over, without a `complete`; what has begun is
 * answered first. After five seconds a mutation is answered in the service's place, and a query not at all. Resolves
 * when the peer has been told; however often it is called, the first code is the one that counts.
 */
export const closeGracefully = (connection: Connection, code: number, reason: string): Promise<void> => {
  connection.drained ??= drain(connection, code, reason);
  return connection.drained;
};

const drain = async (connection: Connection, code: number, reason: string): Promise<void> => {
  const trackExecution = cancelUnstarted(connection.operations);
  if (trackExecution.length > 0) {
    await allSettledWithin(
      trackExecution.map(({ ended }) => ended),
      DRAIN_MS,
    );
    for (const operation of trackExecution) operation.abandon();
    // Within the turn in which an operation ends, graphql-ws sends its answer and `complete`.
    await new Promise((resolve) => setImmediate(resolve));
  }
  close(connection, code, reason);
};
