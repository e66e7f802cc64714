import { createMemoryStore } from '../../../../src/backend/dispatch/memory-store.ts';
import type { Webhooks, WebhooksOptions } from '../../../../src/backend/dispatch/webhooks.ts';
import { createWebhooks } from '../../../../src/backend/dispatch/webhooks.ts';
import type { ServiceResponse } from '../../../../src/backend/http/http.ts';
import type { Block } from '../../../../src/backend/types.ts';
import { ALICE, simulator } from './builders.ts';
import type { Answer, Received, Receiver } from './receiver.ts';
import { startReceiver } from './receiver.ts';

export const ROOT = '/beta/evm/subscriptions/webhooks';

type Json = Record<string, unknown>;

export type Service = AsyncDisposable & {
  readonly webhooks: Webhooks;
  /** A body other than text is sent as JSON. */
  ask(method: string, path: string, body?: unknown): ServiceResponse;
  /** The JSON of a 200. Throws when the service refuses the request. */
  json(method: string, path: string, body?: unknown): Json;
  /** Creates a webhook, by default for Alice's transactions, and resolves with its id. */
  create(fields?: Json): string;
};

/** The sandbox's webhooks alone. Their clock stands still unless a test moves it. */
export const startService = (options: Partial<WebhooksOptions> = {}): Service => {
  const { now = () => Date.parse('2025-11-13T05:00:00Z') } = options;
  const webhooks = createWebhooks({
    data: simulator,
    store: createMemoryStore(now),
    now,
    retries: { firstMs: 1, factor: 2 },
    // By then the next retry is due, and the probe is that.
    probes: { firstMs: 20, maxMs: 20 },
    headerPrefix: 'x-sandbox',
    maxPending: 1_000,
    ...options,
  });

  const ask: Service['ask'] = (method, path, body) => {
    const [pathname = '', query] = `${ROOT}${path}`.split('?');
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
    const response = webhooks.route({
      method,
      path: pathname,
      query: new URLSearchParams(query),
      body: text,
    });
    if (response === null) throw new Error(`expected ${method} ${path} to be a webhook route`);
    return response;
  };

  const json: Service['json'] = (method, path, body) => {
    const response = ask(method, path, body);
    if (response.status !== 200) throw new Error(`expected 200, got ${response.status}: ${response.body}`);
    return JSON.parse(response.body ?? 'null');
  };

  const create: Service['create'] = (fields) => {
    const defaults = { name: 'test', url: 'http://127.0.0.1:9/', type: 'transactions', addresses: [ALICE] };
    return String(json('POST', '', { ...defaults, ...fields }).id);
  };

  return { webhooks, ask, json, create, [Symbol.asyncDispose]: () => webhooks.stop() };
};

/** A service whose webhooks deliver to a receiver that the test observes. */
export const startDelivering = async (
  answer?: (index: number, received: Received) => Answer,
  options?: Partial<WebhooksOptions>,
): Promise<Service & { readonly receiver: Receiver }> => {
  const receiver = await startReceiver(answer);
  const service = startService(options);
  return {
    ...service,
    receiver,
    create: (fields) => service.create({ url: receiver.url, ...fields }),
    async [Symbol.asyncDispose]() {
      await service.webhooks.stop();
      await receiver[Symbol.asyncDispose]();
    },
  };
};

/** The items of a body, whatever their type. */
export const itemsIn = (body: string): readonly Json[] => {
  const [items = []] = Object.values(JSON.parse(body) as Record<string, Json[]>);
  return items;
};

/** The items that one webhook receives of the blocks, over a real socket. */
export const itemsFor = async (fields: Json, ...blocks: readonly Block[]): Promise<readonly Json[]> => {
  await using service = await startDelivering();
  service.create(fields);
  for (const each of blocks) service.webhooks.handleBlock(each);
  await service.webhooks.settled();
  return service.receiver.received.flatMap(({ body }) => itemsIn(body));
};
