import { randomUUID } from 'node:crypto';
import { differs, expecting, type Finding, itemsOf, membersOf, note, Skipped, shown } from '../finding.ts';
import { bodyOf, type Judged, type Point, refusal, summary } from '../point.ts';
import { nameOf, type Operation } from '../service.ts';
import {
  flag,
  integer,
  judge,
  listOf,
  mixedAddress,
  observed,
  oneOf,
  record,
  text,
  time,
  url,
  uuid,
} from '../shape.ts';
import { UNUSED } from '../wallets.ts';
import {
  create,
  get,
  list,
  listAddresses,
  remove,
  replaceAddresses,
  update,
  updateAddresses,
  WEBHOOK_TYPES,
  type WebhookType,
} from '../webhooks.ts';
import {
  addressPoints,
  at,
  MANAGEMENT,
  namesMalformedId,
  noBody,
  point,
  SOURCES,
} from './webhook-addresses.ts';

type Item = Readonly<Record<string, unknown>>;

/** How events are found of chains on which no block is followed: only this project's own service has such. */
const polling = observed(
  record(
    { chain_ids: listOf(integer), every_seconds: integer, confirmations: integer },
    { credits_per_day: integer },
  ),
);

const webhookShape = record(
  {
    id: uuid,
    team_id: text,
    name: text,
    type: oneOf(...WEBHOOK_TYPES),
    url,
    active: flag,
    created_at: time,
    updated_at: time,
  },
  {
    chain_ids: listOf(integer),
    transaction_type: oneOf('sender', 'receiver'),
    counterparty: mixedAddress,
    activity_type: oneOf('approve', 'mint', 'burn', 'receive', 'send', 'swap', 'call'),
    asset_type: oneOf('native', 'erc20', 'erc721', 'erc1155'),
    token_address: mixedAddress,
    polling,
  },
);

const change = async ({ service }: Judged, id: string, body: unknown): Promise<Item> =>
  membersOf(bodyOf(await service.ask(update, { ...at(id), body })));

const read = async ({ service }: Judged, id: string): Promise<Item> =>
  membersOf(bodyOf(await service.ask(get, { ...at(id), again: true })));

/** That two states of a webhook are the same, but for the named fields. Null and absent are the same. */
const unchanged = (before: Item, after: Item, ...except: readonly string[]): readonly Finding[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((field) => !except.includes(field))
    .flatMap((field) => {
      const [was, is] = [shown(before[field] ?? null), shown(after[field] ?? null)];
      return was === is ? [] : [differs(was, is, field)];
    });

const has = (item: Item, expected: Item): readonly Finding[] =>
  Object.entries(expected).flatMap(([field, value]) => {
    const [wanted, is] = [shown(value), shown(item[field] ?? null)];
    return wanted.toLowerCase() === is.toLowerCase() ? [] : [differs(wanted, is, field)];
  });

const EVERY = [create, list, get, update, listAddresses, replaceAddresses, updateAddresses, remove];

const needsKey = (operation: Operation): Point =>
  point(operation, 'answers 401 without a key', 'specification: Authentication', async ({ service }, own) => {
    const body = operation.method === 'PUT' || operation.method === 'PATCH' ? { body: {} } : {};
    const answer =
      operation === create
        ? await own.create({ type: 'balances', addresses: [UNUSED] }, null)
        : await service.ask(operation, { ...at(randomUUID()), ...body, key: null });
    return answer.status === 401 ? refusal(answer, 401, 'error') : [differs('401', summary(answer))];
  });

/** A filter, a value of it, and the one type of webhook that may have it. */
const FILTERS_OF_ONE_TYPE: readonly (readonly [filter: string, value: string, type: WebhookType])[] = [
  ['transaction_type', 'sender', 'transactions'],
  ['activity_type', 'mint', 'activities'],
  ['counterparty', UNUSED, 'transactions'],
];

const refusesFilter = ([filter, value, ownType]: (typeof FILTERS_OF_ONE_TYPE)[number]): Point =>
  point(
    update,
    `refuses ${filter} for webhooks that are not of type ${ownType}`,
    SOURCES.update,
    async (judged, own) => {
      const found: Finding[] = [];
      for (const type of WEBHOOK_TYPES) {
        const { id } = await own.of(type);
        const answer = await judged.service.ask(update, { ...at(id), body: { [filter]: value } });
        if (type === ownType) found.push(...has(membersOf(bodyOf(answer)), { [filter]: value }));
        // The documentation calls it an error for the two enums only.
        else if (filter === 'counterparty' && answer.status === 200)
          found.push(note('a refusal (400)', summary(answer)));
        else found.push(...refusal(answer));
        await judged.service.ask(update, { ...at(id), body: { [filter]: null } });
      }
      return found;
    },
  );

const MAX_PAGES = 20;

export const webhookPoints: readonly Point[] = [
  ...EVERY.map(needsKey),

  point(create, 'creates a webhook of each type', MANAGEMENT, async (_, own) => {
    const found: Finding[] = [];
    for (const type of WEBHOOK_TYPES) {
      const { sent, answer } = await own.of(type);
      found.push(
        ...judge(webhookShape, answer.json),
        ...has(membersOf(answer.json), { ...sent, active: true }),
      );
    }
    return found;
  }),
  point(create, 'refuses an unknown type', MANAGEMENT, async (_, own) =>
    refusal(
      await own.create({
        type: 'blocks',
        addresses: [],
      }),
      422,
      'text',
    ),
  ),
  point(create, 'refuses what is no address', MANAGEMENT, async (_, own) =>
    refusal(
      await own.create({
        type: 'balances',
        addresses: ['0x12'],
      }),
      422,
      'text',
    ),
  ),

  point(get, 'answers the webhook', MANAGEMENT, async (judged, own) => {
    const { id, answer } = await own.of('activities');
    return unchanged(membersOf(answer.json), await read(judged, id), 'updated_at');
  }),
  point(get, 'answers 404 for an unknown id', MANAGEMENT, async ({ service }) =>
    refusal(await service.ask(get, at(randomUUID())), 404),
  ),

  point(list, 'has each webhook once in a walk of small pages', MANAGEMENT, async ({ service }, own) => {
    const wanted = await Promise.all(WEBHOOK_TYPES.map(async (type) => (await own.of(type)).id));
    const found: string[] = [];
    let offset = '';
    for (let page = 0; page < MAX_PAGES; page++) {
      const query = { limit: '2', ...(offset !== '' && { offset }) };
      const { webhooks, next_offset } = membersOf(bodyOf(await service.ask(list, { query, again: true })));
      const ids = itemsOf(webhooks).map(({ id }) => String(id));
      if (ids.length > 2) return [differs('at most 2 webhooks', `${ids.length}`)];
      found.push(...ids);
      offset = String(next_offset ?? '');
      if (offset === '') break;
    }
    if (offset !== '' && wanted.some((id) => !found.includes(id)))
      throw new Skipped(`the key has more than ${MAX_PAGES * 2} webhooks`);
    const lost = wanted.find((id) => !found.includes(id));
    const twice = found.find((id, index) => found.indexOf(id) !== index);
    return [
      ...expecting(lost === undefined, `${lost} on one of the pages`, 'pages without it'),
      ...expecting(twice === undefined, 'each once', `${twice} twice`),
    ];
  }),

  point(update, 'changes what is sent, and nothing else', SOURCES.update, async (judged, own) => {
    const { id } = await own.of('activities');
    const before = await read(judged, id);
    const sent = { name: `contract ${randomUUID()}`, asset_type: 'erc20', token_address: UNUSED };
    const after = await change(judged, id, sent);
    const kept = await read(judged, id);
    return [
      ...judge(webhookShape, after),
      ...has(after, sent),
      ...unchanged(before, after, ...Object.keys(sent), 'updated_at'),
      ...unchanged(after, kept),
      ...expecting(after.updated_at !== before.updated_at, 'another updated_at', after.updated_at),
    ];
  }),
  point(update, 'clears filters that are null', SOURCES.update, async (judged, own) => {
    const { id } = await own.of('activities');
    const [chain] = await judged.chains.tagged('default', 'transactions');
    const chain_ids = chain === undefined ? null : [chain.id];
    await change(judged, id, { asset_type: 'erc20', activity_type: 'send', chain_ids });
    return has(await change(judged, id, { asset_type: null, activity_type: null, chain_ids: null }), {
      asset_type: null,
      activity_type: null,
      chain_ids: null,
    });
  }),
  point(update, 'pauses and resumes, and keeps the webhook', SOURCES.update, async (judged, own) => {
    const { id } = await own.of('activities');
    const paused = has(await change(judged, id, { active: false }), { active: false });
    const kept = has(await read(judged, id), { active: false });
    return [...paused, ...kept, ...has(await change(judged, id, { active: true }), { active: true })];
  }),
  ...FILTERS_OF_ONE_TYPE.map(refusesFilter),
  point(
    update,
    'refuses unknown words and bodies, and then changes nothing',
    MANAGEMENT,
    async (judged, own) => {
      const { id } = await own.of('activities');
      const before = await read(judged, id);
      const word = await judged.service.ask(update, {
        ...at(id),
        body: { name: 'lost', asset_type: 'erc9999' },
      });
      const body = await judged.service.ask(update, { ...at(id), body: '{"name":' });
      return [
        ...refusal(word, 422, 'text'),
        ...refusal(body, 400, 'text'),
        ...unchanged(before, await read(judged, id)),
      ];
    },
  ),
  namesMalformedId(get, MANAGEMENT),
  namesMalformedId(update, MANAGEMENT),

  ...addressPoints,

  point(remove, 'deletes a webhook, which is unknown then', MANAGEMENT, async ({ service }, own) => {
    const { id } = await own.of('balances');
    const answer = await service.ask(remove, at(id));
    const gone = await service.ask(get, { ...at(id), again: true });
    return [...noBody(answer), ...refusal(gone, 404)];
  }),
  point(
    remove,
    'costs no compute units, like all that manages webhooks',
    MANAGEMENT,
    async ({ service }, own) => {
      await own.of('activities');
      const names = EVERY.map(nameOf);
      const bill = service.bills.find(
        ({ operation, stated }) => names.includes(nameOf(operation)) && (stated ?? 0) !== 0,
      );
      return expecting(bill === undefined, '0', `${bill?.stated}`);
    },
  ),
];
