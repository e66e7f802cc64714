import { json, type Route, type SandboxRequest, type SandboxResponse, text } from '../http/http.ts';
import type { Block, Chain, ChainReader, Hex } from '../types.ts';
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
import { NO_FILTERS, resource, type Webhook, type WebhookType } from './webhook.ts';

/** The webhooks that exist from the first block, one of each type. Their ids are the same at every start. */
export const DEMO_WEBHOOKS = [
  { id: '019a7b1c-5c00-7d1e-8a30-6b1f0c2e9d41', type: 'transactions', name: 'Demo: transactions' },
  { id: '019a7b1c-5c01-7e2f-9b41-7c2a1d3f0e52', type: 'activities', name: 'Demo: activities' },
  { id: '019a7b1c-5c02-7f30-ac52-8d3b2e401f63', type: 'balances', name: 'Demo: balance changes' },
] as const satisfies readonly { id: string; type: WebhookType; name: string }[];

export type WebhooksOptions = {
  readonly simulator: ChainReader;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The addresses that the demo webhooks are subscribed to. Default: none. */
  readonly demoAddresses?: readonly Hex[];
  /** Milliseconds before the first of five retries, doubled for each further retry. Default: 1,000. */
  readonly retryBaseMs?: number;
  /** Milliseconds that a url has to answer a delivery. Default: 10,000. */
  readonly deliveryTimeoutMs?: number;
  /** The secret that signs deliveries with an HMAC-SHA256 of their raw body. Default: deliveries are unsigned. */
  readonly signatureSecret?: string;
  readonly log?: Log;
};

/** The sandbox's webhooks: their management API and their deliveries. */
export type Webhooks = {
  /** The route of the management API under /beta/evm/subscriptions/webhooks. */
  readonly route: Route;
  /** Sends the block's events to every active webhook that they match. Returns before they are delivered. */
  handleBlock(block: Block): void;
  /** Points the demo webhooks that still exist at a url: the same for all, or one for each id. */
  connectDemo(url: string | ((webhookId: string) => string)): void;
  /** Resolves when no delivery is pending: each was accepted, abandoned or dropped. */
  settled(): Promise<void>;
  /** Cancels pending retries and requests in flight. Resolves when none is left. */
  stop(): Promise<void>;
};

/** Creates the webhooks of a sandbox, with the demo webhooks. All state is in memory. */
export const createWebhooks = (options: WebhooksOptions): Webhooks => {
  const {
    simulator,
    now,
    demoAddresses = [],
    retryBaseMs = 1000,
    deliveryTimeoutMs = 10_000,
    log = () => {},
  } = options;
  const store = createStore(now);
  createDemoWebhooks(store, demoAddresses);

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
      chains: simulator.chains,
      cancelDeliveries: dispatcher.cancel,
      sendTestEvent: (webhook, address) =>
        dispatcher.deliver(testDelivery(webhook, address, simulator, now())),
    }),
    handleBlock(block) {
      if (!block.chain.webhooks) return;
      for (const delivery of deliveriesOf(block, simulator, store)) dispatcher.deliver(delivery);
    },
    connectDemo(url) {
      for (const { id } of DEMO_WEBHOOKS) store.update(id, { url: typeof url === 'string' ? url : url(id) });
    },
    settled: dispatcher.settled,
    stop: dispatcher.stop,
  };
};

/** Creates the demo webhooks. They are active, but deliver nothing until they get a url. */
const createDemoWebhooks = (store: Store, addresses: readonly Hex[]): void => {
  for (const { id, type, name } of DEMO_WEBHOOKS)
    store.create({ type, addresses, settings: { name, url: null, active: true, ...NO_FILTERS } }, id);
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

const NO_BODY: SandboxResponse = { status: 200, computeUnits: 0 };

type Handler = (request: SandboxRequest, id: string) => SandboxResponse;
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

/** An operation of the sandbox's own, which the service's contract does not have. */
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

  const answer = (methods: Methods, request: SandboxRequest, segment?: string): SandboxResponse => {
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
