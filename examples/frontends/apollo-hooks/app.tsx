import { ApolloProvider } from '@apollo/client/react';
import { watchConnection } from 'evm-graphql-gateway/client';
import { useCallback, useState, useSyncExternalStore } from 'react';
import { createApollo, createSocket } from '../apollo/client.ts';
import { Events } from './events.tsx';
import { Transactions } from './transactions.tsx';

/** A client, and whether its events arrive now. */
const open = (url: string) => {
  const socket = createSocket(url);
  let state = 'connecting';
  return {
    client: createApollo(url, socket),
    connection: () => state,
    subscribe: (listener: () => void) =>
      watchConnection(socket, (changed) => {
        state = changed;
        listener();
      }),
  };
};

type Opened = ReturnType<typeof open>;

const Connection = ({ opened }: { readonly opened: Opened }) => {
  const subscribe = useCallback((listener: () => void) => opened.subscribe(listener), [opened]);
  const connection = useSyncExternalStore(subscribe, opened.connection);
  return <p role="status">{connection}</p>;
};

type Props = { readonly url: string; readonly address: string };

/** The components of another wallet begin anew: their `key` is its address. */
export const App = ({ url, address }: Props) => {
  const [opened] = useState(() => open(url));
  return (
    <ApolloProvider client={opened.client}>
      <Connection opened={opened} />
      <Transactions key={`transactions of ${address}`} address={address} />
      <Events key={`events of ${address}`} address={address} />
    </ApolloProvider>
  );
};
