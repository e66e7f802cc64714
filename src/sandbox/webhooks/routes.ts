import { json, type Route, type SandboxRequest, type SandboxResponse, text } from '../http/http.ts';
import type { Chain } from '../types.ts';
import { HttpError, parseBody } from './json-body.ts';
import {
  checkChains,
  checkFiltersFit,
  readAddressChange,
  readCreation,
  readLimit,
  readOffset,
  readReplacement,
  readUpdate,
  withNext,
  writeOffset,
} from './requests.ts';
import { canonicalUuid, type Store, type Subscription, uuidProblem } from './store.ts';
import { resource } from './webhook.ts';

const ROOT = '/beta/evm/subscriptions/webhooks';
/** The path of an operation on webhooks with its id in braces; null for any other path. */
export const webhookPath = (path: string): string | null => {
  if (path === ROOT) return ROOT;
  const match = /^\/[^/]+(?<rest>\/addresses)?$/.exec(path.startsWith(ROOT) ? path.slice(ROOT.length) : '');
  return match === null ? null : `${ROOT}/{webhookId}${match.groups?.rest ?? ''}`;
};

const NO_BODY: SandboxResponse = { status: 200, computeUnits: 0 };

type Handler = (request: SandboxRequest, id: string) => SandboxResponse;
type Methods = Readonly<Record<string, Handler>>;

export type RouteParts = {
  readonly store: Store;
  readonly chains: readonly Chain[];
  /** Called after a webhook was paused or deleted, to cancel its pending deliveries. */
  readonly cancelDeliveries: (id: string) => void;
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
export const createRoutes = (parts: RouteParts): Route => {
  const resources = { collection: collection(parts), single: single(parts), addresses: addresses(parts) };

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
    if (request.path === ROOT) return answer(resources.collection, request);
    if (!request.path.startsWith(`${ROOT}/`)) return null;
    const [segment = '', part, ...rest] = request.path.slice(ROOT.length + 1).split('/');
    if (segment === '' || rest.length > 0) return null;
    if (part === undefined) return answer(resources.single, request, segment);
    return part === 'addresses' ? answer(resources.addresses, request, segment) : null;
  };
};
