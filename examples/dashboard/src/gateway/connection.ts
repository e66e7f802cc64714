import { useSyncExternalStore } from 'react';
import { socket } from './environment.ts';

let isConnected = false;

const subscribe = (listener: () => void) => {
  const change = (to: boolean) => () => {
    isConnected = to;
    listener();
  };
  const stops = [socket.on('connected', change(true)), socket.on('closed', change(false))];
  return () => {
    for (const stop of stops) stop();
  };
};

/** Whether events arrive now. After a break the client reconnects by itself. */
export const useIsConnected = (): boolean => useSyncExternalStore(subscribe, () => isConnected);
