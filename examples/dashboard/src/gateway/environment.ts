import { keepPages, reconnecting, resuming } from 'evm-graphql-gateway/client';
import { createClient } from 'graphql-ws';
import {
  DefaultHandlerProvider,
  Environment,
  type FetchFunction,
  type GraphQLResponse,
  type GraphQLSingularResponse,
  Network,
  Observable,
  RecordSource,
  Store,
  type SubscribeFunction,
} from 'relay-runtime';
import { addCost, type Cost } from './cost.ts';
import { type Fault, GatewayError, isOfAnItem, toGatewayError } from './faults.ts';

const { VITE_GATEWAY_URL } = import.meta.env;
/** The gateway's origin. By default the page's own: a proxy in front of both sends /graphql to the gateway. */
const GATEWAY: string = VITE_GATEWAY_URL ?? location.origin;

/** One connection for all subscriptions. It reconnects by itself, and each subscription resumes by its cursor. */
export const socket = resuming(
  createClient({ url: `${GATEWAY.replace('http', 'ws')}/graphql`, ...reconnecting }),
);

/** An answer of the gateway: Relay reads its data, and `extensions` say what it has cost. */
type Answer = GraphQLSingularResponse & {
  readonly errors?: readonly Fault[];
  readonly extensions?: { readonly upstream?: Cost };
};

const post = async (body: object): Promise<Answer> => {
  const response = await fetch(`${GATEWAY}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.json();
};

const query: FetchFunction = async ({ id, text }, variables) => {
  // With trusted documents Relay's compiler gives an id in place of the text.
  const document = id ? { documentId: id } : { query: text };
  const answer = await post({ ...document, variables }).catch((reason) => {
    throw toGatewayError(reason);
  });
  addCost(answer.extensions?.upstream);
  // A list that fails is null. Relay would put this null in the place of the pages that it has, so the operation fails.
  const fault = answer.errors?.find((error) => !isOfAnItem(error));
  if (fault) throw new GatewayError(fault);
  return answer;
};

const subscribe: SubscribeFunction = ({ id, text }, variables) => {
  const document = id
    ? { query: '', extensions: { persistedQuery: { sha256Hash: id } } }
    : { query: text ?? '' };
  return Observable.create<GraphQLResponse>((sink) =>
    socket.subscribe(
      { ...document, variables },
      {
        next: (answer) => sink.next(answer as GraphQLResponse),
        error: (reason) => sink.error(toGatewayError(reason)),
        complete: () => sink.complete(),
      },
    ),
  );
};

export const environment = new Environment({
  // A list whose first page is fetched again keeps the pages that are loaded: newer items appear on top.
  handlerProvider: keepPages(DefaultHandlerProvider),
  network: Network.create(query, subscribe),
  store: new Store(new RecordSource()),
});
