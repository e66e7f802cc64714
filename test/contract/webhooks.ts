import { randomUUID } from 'node:crypto';
import type { Listener } from './deliveries.ts';
import { Differs, differs, itemsOf, membersOf, Skipped } from './finding.ts';
import type { Answer, Operation, Service } from './service.ts';
import { UNUSED, type Wallets } from './wallets.ts';

const ROOT = '/beta/evm/subscriptions/webhooks';
const free = () => 0;

/** The operations on webhooks. None of them costs compute units. */
export const create: Operation = { method: 'POST', path: ROOT, price: free };
export const list: Operation = { method: 'GET', path: ROOT, price: free };
export const get: Operation = { method: 'GET', path: `${ROOT}/{webhookId}`, price: free };
export const update: Operation = { method: 'PATCH', path: `${ROOT}/{webhookId}`, price: free };
export const remove: Operation = { method: 'DELETE', path: `${ROOT}/{webhookId}`, price: free };
export const listAddresses: Operation = { method: 'GET', path: `${ROOT}/{webhookId}/addresses`, price: free };
export const replaceAddresses: Operation = {
  method: 'PUT',
  path: `${ROOT}/{webhookId}/addresses`,
  price: free,
};
export const updateAddresses: Operation = {
  method: 'PATCH',
  path: `${ROOT}/{webhookId}/addresses`,
  price: free,
};
/** An operation of this project's own service, which sends an event at once. Others answer that there is none. */
const sendTest: Operation = { method: 'POST', path: `${ROOT}/{webhookId}/test`, price: free };

/** Pages of webhooks that are searched for what the run made. */
const MAX_PAGES = 20;

export const WEBHOOK_TYPES = ['transactions', 'activities', 'balances'] as const;
export type WebhookType = (typeof WEBHOOK_TYPES)[number];

/** A webhook as it was created. */
type Created = {
  readonly id: string;
  readonly sent: Readonly<Record<string, unknown>>;
  readonly answer: Answer;
};

/** The webhooks that a run makes, each of which it deletes. */
export type OwnWebhooks = {
  /** One webhook of each type, which is created when it is needed first. */
  of(type: WebhookType): Promise<Created>;
  /** Creates a webhook with these fields, beside a name and a URL; what is created is deleted in the end. */
  create(fields: object, key?: null): Promise<Answer>;
  /** Where deliveries arrive; null when the service can't reach this machine. */
  readonly listener: Listener | null;
  /** Asks for an event at once, where the service can do that. */
  provoke(id: string): Promise<void>;
  /** Deletes what is left. Resolves to the ids that could not be deleted. */
  removeAll(): Promise<readonly string[]>;
};

const idIn = ({ json }: Answer): string | null => {
  const { id } = membersOf(json);
  return typeof id === 'string' ? id : null;
};

type Parts = { readonly service: Service; readonly wallets: Wallets; readonly listener: Listener | null };

const isDone = ({ status }: Answer): boolean => status >= 200 && status < 300;

export const createOwnWebhooks = ({ service, wallets, listener }: Parts): OwnWebhooks => {
  const destination = listener?.url ?? 'https://example.com/contract';
  const run = `contract ${randomUUID()}`;
  const left = new Set<string>();
  const ofTypes = new Map<WebhookType, Promise<Created>>();
  /** Whether a creation had no answer, so that it may have made a webhook all the same. */
  let isUncertain = false;

  /** With a listener, the wallets that something may happen to; otherwise an address to which nothing happens. */
  const addresses = async (): Promise<readonly string[]> => {
    if (listener === null) return [UNUSED];
    const places = await wallets.places('webhooks').catch((problem: unknown) => {
      if (problem instanceof Skipped) return [];
      throw problem;
    });
    return [UNUSED, ...new Set(places.map(({ wallet }) => wallet))];
  };

  const send: OwnWebhooks['create'] = async (fields, key) => {
    const body = { name: run, url: destination, ...fields };
    isUncertain = true;
    const answer = await service.ask(create, { body, mustEnd: true, ...(key === null && { key }) });
    isUncertain = false;
    const id = idIn(answer);
    if (isDone(answer) && id !== null) left.add(id);
    return answer;
  };

  const createOf = async (type: WebhookType): Promise<Created> => {
    const answer = await send({ type, addresses: await addresses() });
    const id = idIn(answer);
    if (answer.status !== 200 || id === null)
      throw new Differs(differs('a new webhook', `${answer.status} ${answer.text.slice(0, 90)}`));
    return { id, sent: { name: run, type, url: destination }, answer };
  };

  /** The webhooks of this run by their names, among the newest of the key. */
  const find = async (): Promise<readonly string[]> => {
    const found: string[] = [];
    let offset = '';
    for (let page = 0; page < MAX_PAGES; page++) {
      const query = offset === '' ? {} : { offset };
      const { webhooks, next_offset } = membersOf((await service.ask(list, { query, mustEnd: true })).json);
      found.push(...itemsOf(webhooks).flatMap(({ id, name }) => (name === run ? String(id) : [])));
      offset = String(next_offset ?? '');
      if (offset === '') break;
    }
    return found;
  };

  return {
    listener,
    create: send,
    of(type) {
      const known = ofTypes.get(type);
      if (known !== undefined) return known;
      const created = createOf(type);
      ofTypes.set(type, created);
      return created;
    },
    async provoke(id) {
      await service.ask(sendTest, { path: { webhookId: id } });
    },
    async removeAll() {
      const kept: string[] = [];
      if (isUncertain) for (const id of await find()) left.add(id);
      for (const id of left) {
        const answered = service.ask(remove, { path: { webhookId: id }, mustEnd: true });
        const isGone = await answered.then(
          // 404: a point has deleted it.
          (answer) => isDone(answer) || answer.status === 404,
          () => false,
        );
        if (!isGone) kept.push(id);
      }
      left.clear();
      return kept;
    },
  };
};
