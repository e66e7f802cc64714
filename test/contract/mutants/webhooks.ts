import { type Bend, type Passing, said } from '../support/bending-proxy.ts';
import { answering, instead, json, type Mutant, UNUSED } from '../support/bends.ts';

const WEBHOOKS = /subscriptions\/webhooks/;
const CREATE = /^POST /;

const is = (method: string, path: RegExp) => (passing: Passing) =>
  passing.method === method && path.test(passing.path);
const isList = is('GET', /webhooks$/);
const isCreate = is('POST', /webhooks$/);
const isGet = is('GET', /webhooks\/[^/]+$/);
const isUpdate = is('PATCH', /webhooks\/[^/]+$/);
const isAddresses = is('GET', /addresses$/);
const isChange = is('PATCH', /addresses$/);

const EMPTY = { status: 200, headers: {}, body: '' };

/** Sets a field of the webhooks in answers. */
const setting = (isMeant: (passing: Passing) => boolean, fields: object): Bend =>
  answering(isMeant, (answer) => json(answer, (body) => ('id' in body ? { ...body, ...fields } : body)));

/** Answers 200 where the service refuses. */
const accepting = (isMeant: (passing: Passing) => boolean, status: number): Bend =>
  answering(isMeant, (answer) => answer.status === status && Object.assign(answer, said(200, {})));

const rewriting = (isMeant: (passing: Passing) => boolean, change: (body: string) => string): Bend => ({
  request(passing) {
    if (isMeant(passing)) passing.body = change(passing.body);
    return undefined;
  },
});

/** Makes deliveries pass by the proxy, which changes their bodies and headers. */
export const delivering = (change: (delivered: Passing) => void): Bend => {
  let destination = '';
  return {
    async request(passing) {
      if (isCreate(passing)) {
        const sent = JSON.parse(passing.body);
        destination = sent.url;
        passing.body = JSON.stringify({ ...sent, url: `http://${passing.headers['x-host']}/delivered` });
      }
      if (passing.path !== '/delivered') return undefined;
      change(passing);
      const { status } = await fetch(destination, {
        method: 'POST',
        headers: passing.headers,
        body: passing.body,
      });
      return { ...EMPTY, status };
    },
  };
};

/** Servers that break what holds for webhooks and their deliveries. */
export const WEBHOOK_MUTANTS: readonly Mutant[] = [
  ['creates them paused', setting(isCreate, { active: false }), CREATE, ['creates a webhook']],
  [
    'takes any creation',
    rewriting(isCreate, (body) => body.replace('"blocks"', '"balances"').replace('"0x12"', `"${UNUSED}"`)),
    CREATE,
    ['refuses an unknown', 'refuses what is no'],
  ],
  ['forgets the name', setting(isGet, { name: 'other' }), WEBHOOKS, ['answers the webhook']],
  ['knows every webhook', accepting(isGet, 404), WEBHOOKS, ['answers 404', 'deletes a webhook']],
  ['lists none', instead(isList, said(200, { webhooks: [] })), WEBHOOKS, ['has each webhook']],
  [
    'changes more than is sent',
    setting(isUpdate, { url: 'https://example.com' }),
    WEBHOOKS,
    ['changes what is sent'],
  ],
  ['never clears', setting(isUpdate, { asset_type: 'erc20' }), WEBHOOKS, ['clears filters']],
  ['never pauses', setting(() => true, { active: true }), WEBHOOKS, ['pauses']],
  [
    'takes any filter',
    accepting(isUpdate, 400),
    WEBHOOKS,
    ['refuses transaction_type', 'refuses activity_type'],
  ],
  [
    'takes no counterparty',
    instead((passing) => passing.body.includes('counterparty'), said(400, 'no')),
    WEBHOOKS,
    ['refuses counterparty'],
  ],
  ['takes any words', accepting(isUpdate, 422), WEBHOOKS, ['refuses unknown words']],
  [
    'says no more than that an id is bad',
    answering(
      () => true,
      (answer) => answer.status === 400 && Object.assign(answer, { body: 'Bad request' }),
    ),
    WEBHOOKS,
    ['names a webhook id'],
  ],
  [
    'has one page of addresses',
    answering(isAddresses, (answer) => json(answer, ({ next_offset, ...body }) => body)),
    WEBHOOKS,
    ['lists the addresses'],
  ],
  ['replaces nothing', instead(({ method }) => method === 'PUT', EMPTY), WEBHOOKS, ['replaces all']],
  [
    'adds first, then removes',
    rewriting(isChange, (text) => {
      const body = JSON.parse(text);
      const added: string[] = body.add_addresses;
      return JSON.stringify({
        ...body,
        add_addresses: added.filter((each) => !body.remove_addresses?.includes(each)),
      });
    }),
    WEBHOOKS,
    ['removes first'],
  ],
  [
    'loses a concurrent change',
    instead((passing) => isChange(passing) && passing.body.endsWith('d"]}'), EMPTY),
    WEBHOOKS,
    ['loses no'],
  ],
  ['deletes nothing', instead(({ method }) => method === 'DELETE', EMPTY), WEBHOOKS, ['deletes a webhook']],
  [
    'delivers other bodies',
    delivering((passing) => Object.assign(passing, { body: '{"events":[]}' })),
    CREATE,
    ['delivers events'],
  ],
  [
    'delivers items of another form',
    delivering((passing) =>
      Object.assign(passing, { body: passing.body.replaceAll(/\[\{.*\}\]/gs, '[{"wrong":true}]') }),
    ),
    CREATE,
    ['delivers events'],
  ],
  [
    'names another webhook',
    delivering(({ headers }) => Object.assign(headers, { 'x-sandbox-webhook-id': 'other' })),
    CREATE,
    ['delivers events'],
  ],
];
