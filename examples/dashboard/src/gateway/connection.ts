import { watchConnection } from 'evm-graphql-gateway/client';
import { useSyncExternalStore } from 'react';
import { socket } from './environment.ts';

type State = 'connecting' | Parameters<Parameters<typeof watchConnection>[1]>[0];

let state: State = 'connecting';

const subscribe = (listener: () => void) =>
  watchConnection(socket, (changed) => {
    state = changed;
    listener();
  });

/** Whether events arrive now. After a break the client reconnects by itself. */
export const useConnection = (): State => useSyncExternalStore(subscribe, () => state);
