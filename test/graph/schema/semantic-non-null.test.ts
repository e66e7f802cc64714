import { isIntrospectionType, isListType, isNonNullType, isObjectType, print } from 'graphql';
import { afterAll, describe, expect, test } from 'vitest';
import { LogUnavailableError } from '../../../src/deliveries/log/errors.ts';
import { semanticNonNullLevels } from '../../../src/graph/semantic-non-null.ts';
import { lookups } from '../../../src/lookups/registry.ts';
import { schema } from '../../../src/schema.ts';
import { deliver, deliveriesOf } from '../../support/clients/deliver.ts';
import { openMemoryLog } from '../../support/gateway/memory-log.ts';
import { type GraphQLReply, nowhere, startGateway } from '../../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../../support/gateway/tokens.ts';
import { addressOf, transaction } from '../../support/upstream/builders.ts';
import { startFakeService } from '../../support/upstream/fake-service.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';
import { idOf, restWebhook } from '../../webhooks/support/rest.ts';
import { unexplainedNulls, withTypenames } from './support/nulls.ts';

/**
 * `@semanticNonNull` is where null comes only together with an error, and nowhere else. Of any answer to a random document,
 * test/graph/random-documents.test.ts shows that its nulls come with errors.
 */

/** The nullable places of the schema: a field, or the items of its list. */
const places = Object.values(schema.getTypeMap())
  .filter((type) => isObjectType(type) && !isIntrospectionType(type))
  .flatMap((type) =>
    isObjectType(type) ? Object.values(type.getFields()).map((field) => ({ type, field })) : [],
  )
  .flatMap(({ type, field }) => {
    const inner = isNonNullType(field.type) ? field.type.ofType : field.type;
    const nullable = [
      ...(isNonNullType(field.type) ? [] : [0]),
      ...(isListType(inner) && !isNonNullType(inner.ofType) ? [1] : []),
    ];
    const marked: readonly number[] = semanticNonNullLevels(field);
    return [...new Set([...nullable, ...marked])].map((level) => ({
      place: `${type.name}.${field.name}${level === 1 ? '[]' : ''}`,
      isNullable: nullable.includes(level),
      isMarked: marked.includes(level),
      description: field.description ?? '',
    }));
  });

describe('each nullable place', () => {
  test('is marked only if its type is nullable there', () => {
    expect(places.length).toBeGreaterThan(200);
    expect(places.filter(({ isNullable }) => !isNullable)).toEqual([]);
  });

  test('says that null comes with an error, or never, if it is marked', () => {
    const marked = places.filter(({ isMarked }) => isMarked);
    expect(marked.length).toBeGreaterThan(30);
    const promised = /\bnull, with an (\w+ )?error\b|Never null|None is null/i;
    expect(marked.filter(({ description }) => !promised.test(description))).toEqual([]);
  });

  test('says when it is null without an error, if it is not', () => {
    const ofValues = /\bnull\b(?!,? with an)/i;
    expect(places.filter(({ isMarked, description }) => !isMarked && !ofValues.test(description))).toEqual(
      [],
    );
  });
});

const made = new AsyncDisposableStack();
afterAll(() => made.disposeAsync());
const fake = made.use(await startFakeWallets());
const patient = {
  UPSTREAM_URL: fake.url,
  MAX_COMPUTE_UNITS: '1000000',
  LOG_LEVEL: 'error',
  CACHE_STALE_MS: '0',
};

/** The marked places that were null, with an error, in any answer of this file. */
const seen = new Set<string>();

const expectExplained = (document: string, { data, errors }: Pick<GraphQLReply, 'data' | 'errors'>): void => {
  const { unexplained, explained } = unexplainedNulls(schema, document, data, errors ?? []);
  for (const place of explained) seen.add(place);
  expect({ document, unexplained, errors: unexplained.length > 0 ? errors : [] }).toEqual({
    document,
    unexplained: [],
    errors: [],
  });
};

const ask = async (
  gateway: Pick<Awaited<ReturnType<typeof startGateway>>, 'query'>,
  text: string,
  headers: Record<string, string> = {},
): Promise<void> => {
  const document = print(withTypenames(text));
  const reply = await gateway.query(document, {}, headers);
  expect(reply.errors).not.toEqual(undefined);
  expect(reply.data).toBeTruthy();
  expectExplained(document, reply);
};

const A = addressOf(1);
const PAGE = '{ edges { cursor node { __typename } } nodes { __typename } }';

test('lists that are no lists, and items that are no items', async () => {
  await using gateway = await startGateway(patient);
  for (const lookup of lookups) {
    const { itemsField } = lookup;
    fake
      .scriptsOf(lookup)
      .set(A, () => ({ json: { [itemsField]: [{}, null, 'x', 7, []], next_offset: null } }));
  }
  const lists = ['transactions', 'activity', 'balances', 'collectibles', 'approvals', 'defiPositions'];
  await ask(gateway, `{ wallet(address: "${A}") { ${lists.map((list) => `${list} ${PAGE}`).join(' ')} } }`);
  await ask(gateway, `{ token(token: { contract: { chainId: 1, address: "${A}" } }) { holders ${PAGE} } }`);
});

test('a service that fails', async () => {
  await using gateway = await startGateway({ ...patient });
  const wallet = addressOf(2);
  for (const lookup of lookups) fake.scriptsOf(lookup).set(wallet, () => ({ status: 503 }));
  const lists = ['transactions', 'activity', 'balances', 'collectibles', 'approvals', 'defiPositions'];
  await ask(
    gateway,
    `{ wallet(address: "${wallet}") { ${lists.map((list) => `${list} ${PAGE}`).join(' ')} portfolio { totalUsd } } }`,
  );
  await using without = await startGateway({ UPSTREAM_URL: nowhere });
  await ask(
    without,
    `{
      searchTokens(query: "USDC") { nodes { symbol } }
      token(token: { id: "no id" }) { symbol }
      tokens(tokens: [{ id: "no id" }]) { symbol }
      webhooks ${PAGE}
      watchedWallets ${PAGE}
    }`,
  );
});

test('a service whose webhooks are rubbish, and one of them fails', async () => {
  const [webhook, failing] = [restWebhook({ id: idOf(1) }), restWebhook({ id: idOf(2) })];
  await using service = await startFakeService({
    other: ({ path }) => {
      if (path.includes(idOf(2))) return { status: 503 };
      return path.includes(idOf(1))
        ? { json: { addresses: [A, 'no address', null, 7], next_offset: null } }
        : { json: { webhooks: [webhook, failing, {}, null, 'x', { ...webhook, url: 7 }] } };
    },
  });
  await using gateway = await startGateway({ UPSTREAM_URL: service.url });
  await ask(gateway, `{ webhooks { edges { node { addresses ${PAGE} } } nodes { __typename } } }`);
});

test('a log that can not be read', async () => {
  await using service = await startFakeService({ other: () => ({ json: { webhooks: [restWebhook()] } }) });
  await using gateway = await startGateway(
    { UPSTREAM_URL: service.url },
    {
      openLog: async (options) => {
        const log = await openMemoryLog(options);
        const read = () => Promise.reject(new LogUnavailableError('the disk is gone'));
        return Object.assign(Object.create(log), { read });
      },
    },
  );
  await ask(
    gateway,
    `{ deliveries ${PAGE} wallet(address: "${A}") { deliveries ${PAGE} } webhooks { nodes { deliveries ${PAGE} } } }`,
  );
});

test('deliveries that lack what every service says', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { deliveryUrl } = await deliveriesOf(gateway.url);
  const { block_number: _number, index: _index, nonce: _nonce, value: _value, ...bare } = transaction();
  for (const body of [
    { activities: [{}, { type: 7, chain_id: 'x', block_time: 'x', tx_hash: 'x', block_number: 'x' }] },
    { balance_changes: [{}, { direction: 'up', transaction_hash: 7, amount_delta: {} }] },
    { transactions: [{ ...bare, block_number: 1, transaction_type: 'Sender' }] },
  ])
    expect(await deliver(deliveryUrl, { body })).toBe(200);
  await ask(
    gateway,
    `{ deliveries(first: 10) { nodes { events {
      ... on Activity { typeName chainId blockNumber blockTime transactionHash }
      ... on BalanceChange { subscribedAddress transactionHash direction amountDelta }
      ... on TransactionEvent { transaction { index nonce value } }
    } } } }`,
  );
});

test('a token that lacks a scope', async () => {
  await using service = await startFakeService({ other: () => ({ json: { webhooks: [restWebhook()] } }) });
  await using gateway = await startGateway({ UPSTREAM_URL: service.url, ...byToken });
  const headers = bearer(await tokenOf({ scope: 'webhooks' }));
  await ask(
    gateway,
    `{ webhooks { nodes { refusedDeliveries { status } deliveries ${PAGE} } } deliveries ${PAGE} watchedWallets ${PAGE} }`,
    headers,
  );
});

test('each marked place was null with an error above, but for those that never are', () => {
  // Watched wallets are made of webhooks that could be parsed.
  const isNever = ({ place, description }: (typeof places)[number]) =>
    /Never null|None is null/.test(description) || place.startsWith('WatchedWalletConnection.');
  const fallible = places.filter((each) => each.isMarked && !isNever(each));
  expect(fallible.map(({ place }) => place).filter((place) => !seen.has(place))).toEqual([]);
});
