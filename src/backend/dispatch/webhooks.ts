import { json, type Route, type ServiceRequest, type ServiceResponse, text } from '../http/http.ts';
import type { ChainReader } from '../source.ts';
import type { Block, Chain, Finding, Hex, Transaction } from '../types.ts';
import { type Attempt, Attempts, deliveryIdOf, lastOfEach, shownAttempt } from './attempts.ts';
import type { ProbePauses } from './destinations.ts';
import { createDispatcher, type DeliveryEnd, type RetrySchedule } from './dispatcher.ts';
import { deliveriesOf, deliveriesOfFinding, testDelivery } from './events.ts';
import type { Log } from './log.ts';
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
  readResend,
  readUpdate,
  withNext,
  writeOffset,
} from './requests.ts';
import { createSender, type PostWithin } from './sender.ts';
import type { Store } from './store.ts';
import { canonicalUuid, uuidProblem } from './uuid.ts';
import { delivers, resource, type Webhook } from './webhook.ts';

/** After at most 55 seconds, and then 6 times as long each: the fifth retry is at most 24 hours after the first attempt. */
const OVER_A_DAY: RetrySchedule = { firstMs: 55_000, factor: 6 };
/** A receiver that is back has what is pending within a few seconds. */
const EACH_FEW_SECONDS: ProbePauses = { firstMs: 250, maxMs: 5_000 };

export type WebhooksOptions = {
  readonly data: ChainReader;
  /** What keeps the webhooks and their pending deliveries. */
  readonly store: Store;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The schedule of the five retries. Default: they are spread over a day. */
  readonly retries?: RetrySchedule | undefined;
  /** The pauses between two probes of a url that takes nothing. Default: they double from 250 ms up to 5 s. */
  readonly probes?: ProbePauses | undefined;
  /** The number of a webhook's pending deliveries beyond which new ones are dropped. Default: 100,000. */
  readonly maxPending?: number | undefined;
  /** The prefix of the names of a delivery's headers. Default: `x-service`. */
  readonly headerPrefix?: string | undefined;
  /** Milliseconds that a url has to answer a delivery. Default: 10,000. */
  readonly deliveryTimeoutMs?: number | undefined;
  /** The secret that signs deliveries with an HMAC-SHA256 of their raw body. Default: deliveries are unsigned. */
  readonly signatureSecret?: string | undefined;
  /** Called when an attempt at a delivery ends, and when a delivery is dropped before any attempt. */
  readonly onDeliveryEnd?: ((end: DeliveryEnd) => void) | undefined;
  readonly log?: Log | undefined;
  /** What the resource of a webhook says of how its events are found; null for nothing. Default: nothing. */
  readonly pollingOf?: ((webhook: Webhook) => object | null) | undefined;
  /** Whether deliveries are sent only from `start` on. Default: they are sent at once. */
  readonly isPaused?: boolean | undefined;
  /** Default: all deliveries are posted over HTTP. */
  readonly postWithin?: PostWithin | undefined;
};

/** The service's webhooks: their management API and their deliveries. */
export type Webhooks = {
  /** The route of the management API under /beta/evm/subscriptions/webhooks. */
  readonly route: Route;
  /**
   * Queues the block's events for every active webhook that they match. They are sent in a later turn of the event loop. With its
   * transactions as they were told `before`, only what has been added to them is queued.
   */
  handleBlock(block: Block, before?: readonly Transaction[], part?: string): void;
  /** Queues the events of one address, as `handleBlock` those of a block. Its other addresses have findings of their own. */
  handleFinding(finding: Finding): void;
  /** Begins to send, where that did not begin at once. */
  start(): void;
  /** Drops the pending deliveries of a chain's blocks from this number on, which have been unwound. */
  dropBlocks(chainId: number, fromNumber: number): void;
  /** Resolves when no delivery is pending: each was accepted, abandoned or dropped. */
  settled(): Promise<void>;
  /** Aborts requests in flight, and sends no more. What the store keeps is sent after the next start. */
  stop(): Promise<void>;
};

export const createWebhooks = (options: WebhooksOptions): Webhooks => {
  const {
    data,
    now,
    store,
    retries = OVER_A_DAY,
    probes = EACH_FEW_SECONDS,
    maxPending = 100_000,
    headerPrefix = 'x-service',
    deliveryTimeoutMs = 10_000,
    onDeliveryEnd = () => {},
    log = () => {},
  } = options;
  /** The newest block of each chain that was told of. */
  const newest = new Map<number, number>();
  const sender = createSender({
    now,
    timeoutMs: deliveryTimeoutMs,
    headerPrefix,
    signatureSecret: options.signatureSecret,
    postWithin: options.postWithin,
  });
  const attempts = new Attempts();
  const dispatcher = createDispatcher({
    attempts,
    queue: store.deliveries,
    sender,
    urlOf(webhookId) {
      const webhook = store.find(webhookId);
      return webhook !== null && delivers(webhook) ? webhook.url : null;
    },
    ...{ retries, probes, maxPending, onEnd: onDeliveryEnd, log },
  });
  if (options.isPaused !== true) dispatcher.start();

  return {
    route: createRoutes({
      store,
      attempts,
      resend: dispatcher.resend,
      chains: data.chains,
      shown: (webhook) => {
        const polling = options.pollingOf?.(webhook) ?? null;
        return { ...resource(webhook), ...(polling && { polling }) };
      },
      abortDeliveries: dispatcher.abort,
      sendTestEvent: (webhook, address) => dispatcher.deliver(testDelivery(webhook, address, data, now())),
    }),
    handleBlock(block, before, part) {
      const { chain, number } = block;
      if (!chain.webhooks) return;
      if (before === undefined) newest.set(chain.id, number);
      const isCurrent = newest.get(chain.id) === number;
      for (const delivery of deliveriesOf(block, data, store, before, part, isCurrent))
        dispatcher.deliver(delivery);
    },
    handleFinding(finding) {
      for (const delivery of deliveriesOfFinding(finding, data, store)) dispatcher.deliver(delivery);
    },
    start: dispatcher.start,
    dropBlocks(chainId, fromNumber) {
      store.deliveries.dropBlocks(chainId, fromNumber);
      attempts.dropBlocks(chainId, fromNumber);
    },
    settled: dispatcher.settled,
    stop: dispatcher.stop,
  };
};

/** The management API of webhooks: a POST creates one. */
export const WEBHOOKS_PATH = '/beta/evm/subscriptions/webhooks';
/** The path of an operation on webhooks with its id in braces; null for any other path. */
export const webhookPath = (path: string): string | null => {
  if (path === WEBHOOKS_PATH) return WEBHOOKS_PATH;
  const match = /^\/[^/]+(?<rest>\/(?:addresses|attempts|resend|test))?$/.exec(
    path.startsWith(WEBHOOKS_PATH) ? path.slice(WEBHOOKS_PATH.length) : '',
  );
  return match === null ? null : `${WEBHOOKS_PATH}/{webhookId}${match.groups?.rest ?? ''}`;
};

const NO_BODY: ServiceResponse = { status: 200, computeUnits: 0 };

type Handler = (request: ServiceRequest, id: string) => ServiceResponse;
type Methods = Readonly<Record<string, Handler>>;

type RouteParts = {
  readonly store: Store;
  readonly attempts: Attempts;
  readonly resend: (attempts: readonly Attempt[]) => void;
  readonly chains: readonly Chain[];
  /** The webhook as the API returns it. */
  readonly shown: (webhook: Webhook) => object;
  /** Called after a webhook was paused or deleted, to abort its deliveries in flight. */
  readonly abortDeliveries: (id: string) => void;
  /** Sends a test event to a webhook's url. Returns before it is delivered. */
  readonly sendTestEvent: (webhook: Webhook, address: Hex) => void;
};

const collection = ({ store, chains, shown }: RouteParts): Methods => ({
  GET({ query }) {
    const limit = readLimit(query);
    const found = store.page(readOffset(query, 'webhooks'), limit + 1);
    const { page, ...next } = withNext(found, limit, ({ position }) => writeOffset('webhooks', position));
    return json(200, { webhooks: page.map(({ item }) => shown(item)), ...next });
  },
  POST({ body }) {
    const creation = readCreation(parseBody(body));
    checkFiltersFit(creation.type, creation.settings);
    checkChains(chains, creation.settings);
    return json(200, shown(store.create(creation)));
  },
});

const findOrThrow = (store: Store, id: string): Webhook => {
  const webhook = store.find(id);
  if (webhook === null) throw new HttpError(404, `Webhook ${id} not found`);
  return webhook;
};

const single = ({ store, attempts, chains, shown, abortDeliveries }: RouteParts): Methods => ({
  GET: (_, id) => json(200, shown(findOrThrow(store, id))),
  PATCH({ body }, id) {
    const change = readUpdate(parseBody(body));
    checkFiltersFit(findOrThrow(store, id).type, change);
    checkChains(chains, change);
    store.update(id, change);
    const webhook = findOrThrow(store, id);
    if (!delivers(webhook)) abortDeliveries(id);
    return json(200, shown(webhook));
  },
  DELETE(_, id) {
    findOrThrow(store, id);
    store.remove(id);
    attempts.forget(id);
    abortDeliveries(id);
    return NO_BODY;
  },
});

const addresses = ({ store }: RouteParts): Methods => ({
  GET({ query }, id) {
    const limit = readLimit(query);
    findOrThrow(store, id);
    const found = store.addresses(id, readOffset(query, id), limit + 1);
    const { page, ...next } = withNext(found, limit, ({ position }) => writeOffset(id, position));
    return json(200, { addresses: page.map(({ item }) => item), ...next });
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
    const webhook = findOrThrow(store, id);
    const [address] = store.addresses(id, 0, 1);
    assertDelivers(webhook);
    if (address === undefined) throw new HttpError(422, `Webhook ${id} has no addresses`);
    sendTestEvent(webhook, address.item);
    return { status: 202, computeUnits: 0 };
  },
});

/** What this service knows of its attempts at deliveries: the newest of a webhook. The contract does not have it. */
const attemptsOf = ({ store, attempts }: RouteParts): Methods => ({
  GET(_, id) {
    findOrThrow(store, id);
    return json(200, { attempts: attempts.of(id).map(shownAttempt) });
  },
});

/** Sends deliveries again: those that are named and still known, or all whose last attempt failed. The contract does not have it. */
const resend = (parts: RouteParts): Methods => ({
  POST({ body }, id) {
    const named = readResend(parseBody(body));
    assertDelivers(findOrThrow(parts.store, id));
    const last = lastOfEach(parts.attempts.of(id));
    const chosen = last.filter(
      (attempt) => named?.includes(deliveryIdOf(attempt)) ?? attempt.problem !== null,
    );
    parts.resend(chosen);
    return json(200, { resent: chosen.length });
  },
});

const assertDelivers = ({ id, active, url }: Webhook): void => {
  if (!active) throw new HttpError(422, `Webhook ${id} is not active`);
  if (url === null) throw new HttpError(422, `Webhook ${id} has no url`);
};

/** The id in a path, in canonical form. Throws a 400 when it is not a UUID. */
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
  const partsOfOne: Readonly<Record<string, Methods>> = {
    addresses: addresses(parts),
    attempts: attemptsOf(parts),
    resend: resend(parts),
    test: test(parts),
  };

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
    if (request.path === WEBHOOKS_PATH) return answer(all, request);
    if (!request.path.startsWith(`${WEBHOOKS_PATH}/`)) return null;
    const [segment = '', part, ...rest] = request.path.slice(WEBHOOKS_PATH.length + 1).split('/');
    if (segment === '' || rest.length > 0) return null;
    const methods = part === undefined ? one : Object.hasOwn(partsOfOne, part) ? partsOfOne[part] : undefined;
    return methods === undefined ? null : answer(methods, request, segment);
  };
};
