import { json, type Route, type ServiceRequest, type ServiceResponse, text } from '../http/http.ts';
import type { ChainReader } from '../source.ts';
import type { Block, Chain, Hex } from '../types.ts';
import { createDispatcher, createSender, type Log } from './dispatcher.ts';
import { deliveriesOf, testDelivery } from './events.ts';
import {
  checkChains,
  checkFiltersFit,
  HttpError,
  parseBody,
  readAddressChange,
  readCreation,
  readLimit,
  readOffset,
  readReplacement,
  readUpdate,
  withNext,
  writeOffset,
} from './requests.ts';
import { canonicalUuid, createStore, type Store, type Subscription, uuidProblem } from './store.ts';
import { resource, type Webhook } from './webhook.ts';

export type WebhooksOptions = {
  readonly data: ChainReader;
  /** What keeps the webhooks. Default: memory. */
  readonly store?: Store | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds before the first of five retries, doubled for each further retry. Default: 1,000. */
  readonly retryBaseMs?: number | undefined;
  /** Milliseconds that a url has to answer a delivery. Default: 10,000. */
  readonly deliveryTimeoutMs?: number | undefined;
  /** The secret that signs deliveries with an HMAC-SHA256 of their raw body. Default: deliveries are unsigned. */
  readonly signatureSecret?: string | undefined;
  readonly log?: Log | undefined;
};

/** The service's webhooks: their management API and their deliveries. */
export type Webhooks = {
  /** The route of the management API under /beta/evm/subscriptions/webhooks. */
  readonly route: Route;
  /** Sends the block's events to every active webhook that they match. Returns before they are delivered. */
  handleBlock(block: Block): void;
  /** Resolves when no delivery is pending: each was accepted, abandoned or dropped. */
  settled(): Promise<void>;
  /** Cancels pending retries and requests in flight. Resolves when none is left. */
  stop(): Promise<void>;
};

export const createWebhooks = (options: WebhooksOptions): Webhooks => {
  const {
    data,
    now,
    store = createStore(now),
    retryBaseMs = 1000,
    deliveryTimeoutMs = 10_000,
    log = () => {},
  } = options;
  const sender = createSender({
    now,
    timeoutMs: deliveryTimeoutMs,
    signatureSecret: options.signatureSecret,
  });
  const dispatcher = createDispatcher({
    sender,
    urlOf: (webhookId) => store.find(webhookId)?.webhook.url ?? null,
    retryBaseMs,
    log,
  });

  return {
    route: createRoutes({
      store,
      chains: data.chains,
      cancelDeliveries: dispatcher.cancel,
      sendTestEvent: (webhook, address) => dispatcher.deliver(testDelivery(webhook, address, data, now())),
    }),
    handleBlock(block) {
      if (!block.chain.webhooks) return;
      for (const delivery of deliveriesOf(block, data, store)) dispatcher.deliver(delivery);
    },
    settled: dispatcher.settled,
    stop: dispatcher.stop,
  };
};

const ROOT = '/beta/evm/subscriptions/webhooks';
/** The path of an operation on webhooks with its id in braces; null for any other path. */
export const webhookPath = (path: string): string | null => {
  if (path === ROOT) return ROOT;
  const match = /^\/[^/]+(?<rest>\/(?:addresses|test))?$/.exec(
    path.startsWith(ROOT) ? path.slice(ROOT.length) : '',
  );
  return match === null ? null : `${ROOT}/{webhookId}${match.groups?.rest ?? ''}`;
};

const NO_BODY: ServiceResponse = { status: 200, computeUnits: 0 };

type Handler = (request: ServiceRequest, id: string) => ServiceResponse;
type Methods = Readonly<Record<string, Handler>>;

type RouteParts = {
  readonly store: Store;
  readonly chains: readonly Chain[];
  /** Called after a webhook was paused or deleted, to cancel its pending deliveries. */
  readonly cancelDeliveries: (id: string) => void;
  /** Sends a test event to a webhook's url. Returns before it is delivered. */
  readonly sendTestEvent: (webhook: Webhook, address: Hex) => void;
};

const collection = ({ store, chains }: RouteParts): Methods => ({
  GET({ query }) {
    const limit = readLimit(query);
    const found = store.page(readOffset(query, 'webhooks'), limit + 1);
    const { page, ...next } = withNext(found, limit, ({ sequence }) => writeOffset('webhooks', sequence));
    return json(200, { webhooks: page.map(({ webhook }) => resource(webhook)), ...next });
  },
  POST({ body }) {
    const creation = readCreation(parseBody(body));
    checkFiltersFit(creation.type, creation.settings);
    checkChains(chains, creation.settings);
    return json(200, resource(store.create(creation)));
  },
});

const findOrThrow = (store: Store, id: string): Subscription => {
  const subscription = store.find(id);
  if (subscription === null) throw new HttpError(404, `Webhook ${id} not found`);
  return subscription;
};

const single = ({ store, chains, cancelDeliveries }: RouteParts): Methods => ({
  GET: (_, id) => json(200, resource(findOrThrow(store, id).webhook)),
  PATCH({ body }, id) {
    const change = readUpdate(parseBody(body));
    const subscription = findOrThrow(store, id);
    checkFiltersFit(subscription.webhook.type, change);
    checkChains(chains, change);
    store.update(id, change);
    if (!subscription.webhook.active) cancelDeliveries(id);
    return json(200, resource(subscription.webhook));
  },
  DELETE(_, id) {
    findOrThrow(store, id);
    store.remove(id);
    cancelDeliveries(id);
    return NO_BODY;
  },
});

const addresses = ({ store }: RouteParts): Methods => ({
  GET({ query }, id) {
    const limit = readLimit(query);
    const found = findOrThrow(store, id).addresses.page(readOffset(query, id), limit + 1);
    const { page, ...next } = withNext(found, limit, ([, sequence]) => writeOffset(id, sequence));
    return json(200, { addresses: page.map(([address]) => address), ...next });
  },
  PUT({ body }, id) {
    const replacement = readReplacement(parseBody(body));
    findOrThrow(store, id);
    store.replaceAddresses(id, replacement);
    return NO_BODY;
  },
  PATCH({ body }, id) {
    const change = readAddressChange(parseBody(body));
    findOrThrow(store, id);
    store.changeAddresses(id, change);
    return NO_BODY;
  },
});

/** An operation of this service's own, which the contract does not have. */
const test = ({ store, sendTestEvent }: RouteParts): Methods => ({
  POST(_, id) {
    const { webhook, addresses } = findOrThrow(store, id);
    const [address] = addresses.values();
    if (!webhook.active) throw new HttpError(422, `Webhook ${id} is not active`);
    if (webhook.url === null) throw new HttpError(422, `Webhook ${id} has no url`);
    if (address === undefined) throw new HttpError(422, `Webhook ${id} has no addresses`);
    sendTestEvent(webhook, address);
    return { status: 202, computeUnits: 0 };
  },
});

/** The id in a path, in canonical form. Throws a 400 when it is no UUID. */
const readId = (segment: string): string => {
  let id: string;
  try {
    id = decodeURIComponent(segment);
  } catch {
    throw new HttpError(400, 'Invalid URL: Invalid UTF-8 in `webhook_id`');
  }
  const problem = uuidProblem(id);
  if (problem !== null) throw new HttpError(400, `Invalid URL: UUID parsing failed: ${problem}`);
  return canonicalUuid(id);
};

/** The route of all operations on webhooks and their addresses. A refused request changes nothing. */
const createRoutes = (parts: RouteParts): Route => {
  const all = collection(parts);
  const one = single(parts);
  const partsOfOne: Readonly<Record<string, Methods>> = { addresses: addresses(parts), test: test(parts) };

  const answer = (methods: Methods, request: ServiceRequest, segment?: string): ServiceResponse => {
    const handler = Object.hasOwn(methods, request.method) ? methods[request.method] : undefined;
    if (handler === undefined) {
      const refused = text(405, 'Method not allowed');
      return { ...refused, headers: { ...refused.headers, allow: Object.keys(methods).join(', ') } };
    }
    try {
      return handler(request, segment === undefined ? '' : readId(segment));
    } catch (error) {
      if (error instanceof HttpError) return text(error.status, error.message);
      throw error;
    }
  };

  return (request) => {
    if (request.path === ROOT) return answer(all, request);
    if (!request.path.startsWith(`${ROOT}/`)) return null;
    const [segment = '', part, ...rest] = request.path.slice(ROOT.length + 1).split('/');
    if (segment === '' || rest.length > 0) return null;
    const methods = part === undefined ? one : Object.hasOwn(partsOfOne, part) ? partsOfOne[part] : undefined;
    return methods === undefined ? null : answer(methods, request, segment);
  };
};
