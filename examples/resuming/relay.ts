import type { Sink } from 'graphql-ws';
import {
  Environment,
  type FetchFunction,
  type GraphQLResponse,
  type GraphQLTaggedNode,
  Network,
  Observable,
  RecordSource,
  requestSubscription,
  Store,
  type SubscribeFunction,
} from 'relay-runtime';
import { createSocket } from './graphql-ws.ts';
import type { Edge, Subscribe } from './page.ts';

export const createEnvironment = (url: string) => {
  const socket = createSocket(url);
  const ask: FetchFunction = async ({ text }, variables) => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: text, variables }),
    });
    return (await response.json()) as GraphQLResponse;
  };
  const subscribe: SubscribeFunction = ({ text }, variables) =>
    Observable.create((sink) => socket.subscribe({ query: text ?? '', variables }, sink as Sink));
  return new Environment({
    network: Network.create(ask, subscribe),
    store: new Store(new RecordSource()),
  });
};

export const byRelay =
  (environment: Environment, subscription: GraphQLTaggedNode): Subscribe =>
  (after, delivery, failed) => {
    const { dispose } = requestSubscription<{ variables: { after: string }; response: { deliveries: Edge } }>(
      environment,
      {
        subscription,
        variables: { after },
        onNext: (response) => response && delivery(response.deliveries),
        onError: failed,
      },
    );
    return dispose;
  };
