import { watchConnection } from 'evm-graphql-gateway/client';
import { createSocket, createUrql } from './client.ts';

/** A client that says whenever its events begin to arrive, and when they stop until it has reconnected. */
export const openUrql = (url: string, changed: (state: 'connected' | 'closed') => void) => {
  const socket = createSocket(url);
  return { client: createUrql(url, [], socket), stop: watchConnection(socket, changed) };
};
