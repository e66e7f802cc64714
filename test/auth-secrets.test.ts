import { describe, expect, test } from 'vitest';
import { activity } from './support/deliver.ts';
import type { Reply } from './support/fake-service.ts';
import { type Gateway, heldKey, startGateway } from './support/gateway.ts';
import { acceptingKeys, byKey, withKey } from './support/keys.ts';
import { freshAddress, transaction, transactionsEnvelope } from './support/make.ts';
import { subscribe } from './support/subscribe.ts';
import { bearer, byToken, jwtSecret, tokenOf } from './support/tokens.ts';
import { type FakeWallets, startFakeWallets } from './support/wallets.ts';

/** Keys, tokens and secrets are in no answer and in no log line, whatever goes wrong and whoever repeats them. */

const clientKey = 'brought-by-a-client-93be07d1';
const deliverySecret = 'signs-delivery-urls-2f7a9c';
const signatureSecret = 'signs-deliveries-8d0e44';
const WEBHOOK = '019a7b1c-5c00-7d1e-8a30-6b1f0c2e9d41';

const lookup =
  'query ($address: Address!) { wallet(address: $address) { transactions { partialErrors nodes { hash chain } } } }';
const webhooks = `{ webhook(webhookId: "${WEBHOOK}") { name } webhooks { nodes { name } } }`;
const update = `mutation { updateWebhook(input: { webhookId: "${WEBHOOK}", name: "x" }) { ... on WebhookError { code message } } }`;

/** What a service may answer that repeats the key. */
const repeating = (key: string): Reply[] => [
  ...[400, 401, 402, 403, 404, 422, 429, 500, 503].flatMap((status) => [
    { status, json: { error: `the key ${key} is odd` } },
    { status, json: { error: { message: `${'.'.repeat(490)}${key}` } } },
    { status, text: `x-service-api-key: ${key}` },
  ]),
  { status: 302, headers: { location: `http://elsewhere.test/?key=${key}` }, text: key },
  { status: 200, text: key },
  { status: 200, text: `{"transactions": ${key}}` },
  { status: 200, json: { transactions: key, webhooks: key, id: key } },
  { status: 200, json: { transactions: [key], webhooks: [key] } },
  { status: 200, json: transactionsEnvelope([transaction({ hash: key, block_time: key, value: key })]) },
  { status: 200, json: transactionsEnvelope([], { next_offset: [key] }) },
  { status: 200, json: transactionsEnvelope([], { request_time: key }) },
  { status: 200, json: transactionsEnvelope([], { errors: [`${key} is odd`], warnings: { key } }) },
  { status: 200, json: transactionsEnvelope([transaction({ chain: key, data: key })]) },
  { status: 200, headers: { 'content-type': `text/${key}` }, text: key },
  { status: 200, headers: { 'content-encoding': key }, json: transactionsEnvelope([]) },
];

const modes: [string, Record<string, string | undefined>, () => Promise<Record<string, string>>][] = [
  ['AUTH=open', {}, async () => ({})],
  ['AUTH=key', byKey, async () => withKey(clientKey)],
  ['AUTH=jwt', byToken, async () => bearer(await tokenOf())],
];

type Started = {
  readonly fake: FakeWallets;
  readonly gateway: Gateway;
  /** Everything that a client was told. */
  readonly said: string[];
  readonly headers: Record<string, string>;
  readonly token: string;
  readonly deliveryUrl: string;
};

/** With a service that has done nothing yet but accept the key. */
const start = async (
  env: Record<string, string | undefined>,
  headers: Record<string, string>,
): Promise<Started & AsyncDisposable> => {
  const made = new AsyncDisposableStack();
  const fake = made.use(await startFakeWallets());
  fake.script.other = acceptingKeys;
  const gateway = made.use(
    await startGateway({
      UPSTREAM_URL: fake.url,
      DELIVERY_SECRET: deliverySecret,
      DELIVERY_SIGNATURE_SECRET: signatureSecret,
      DELIVERY_SIGNATURE_HEADER: 'x-signature',
      UPSTREAM_TIMEOUT_MS: '500',
      ...env,
    }),
  );
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }', {}, headers);
  const token = headers.authorization?.split(' ')[1] ?? (await tokenOf());
  return {
    fake,
    gateway,
    said: [],
    headers,
    token,
    deliveryUrl,
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  };
};

const ask = async ({ gateway, said }: Started, query: string, headers: Record<string, string>) => {
  const reply = await gateway.query(query, query === lookup ? { address: freshAddress() } : {}, headers);
  said.push(`${reply.body} ${JSON.stringify([...reply.headers])}`);
};

const connect = async ({ gateway, said }: Started, connectionParams: Record<string, string>) => {
  await using socket = subscribe(gateway.url, { connectionParams });
  await Promise.race([socket.ended, socket.opened]);
  said.push(JSON.stringify([socket.faults, socket.closes]));
};

const post = async ({ said }: Started, url: string, body: unknown) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-signature': signatureSecret },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  said.push(`${response.status} ${await response.text()} ${JSON.stringify([...response.headers])}`);
};

/** Stops the gateway and searches all that it said. */
const expectSilence = async ({ gateway, said, token, deliveryUrl }: Started) => {
  await gateway.stop();
  const deliveryToken = deliveryUrl.split('/').at(-1) ?? '';
  const secrets = { heldKey, clientKey, token, jwtSecret, deliverySecret, signatureSecret, deliveryToken };
  for (const [name, secret] of Object.entries(secrets)) {
    const told = [...said, ...gateway.logLines].filter((text) => text.includes(secret));
    expect(told.map((text) => `${name}: ${text.slice(0, 500)}`)).toEqual([]);
  }
};

describe.each(modes)('with %s no key, token or secret is told', (_mode, env, credentials) => {
  const key = env.AUTH === 'key' ? clientKey : heldKey;

  test.each(repeating(key))('when the service answers $status and repeats the key: %#', async (reply) => {
    await using started = await start(env, await credentials());
    const { fake } = started;
    fake.script.transactions = () => reply;
    fake.script.other = () => reply;
    for (const query of [lookup, webhooks, update]) {
      const before = fake.requests.length;
      await ask(started, query, started.headers);
      expect(fake.requests.length).toBeGreaterThan(before);
    }
    await expectSilence(started);
  });

  test('when the service is gone', async () => {
    await using started = await start(env, await credentials());
    await started.fake.goDown();
    for (const query of [lookup, webhooks, update]) await ask(started, query, started.headers);
    await expectSilence(started);
  });

  test('when a client shows something wrong', async () => {
    await using started = await start(env, await credentials());
    const { token } = started;
    const wrongs = [`${token}x`, token.slice(0, -3), `${token}.${token}`, jwtSecret, clientKey];
    const attempts = wrongs.flatMap((wrong) => [
      { authorization: `Bearer ${wrong}` },
      { authorization: wrong },
      { authorization: `Bearer ${wrong} ${wrong}` },
      { 'x-service-api-key': `${wrong} ${wrong}` },
    ]);
    for (const attempt of attempts) {
      await ask(started, lookup, attempt);
      await connect(started, attempt);
    }
    await expectSilence(started);
  });

  test('when a delivery is forged', async () => {
    await using started = await start(env, await credentials());
    const { deliveryUrl } = started;
    for (const url of [deliveryUrl, `${deliveryUrl}x`, `${deliveryUrl}/more`, deliveryUrl.slice(0, -1)])
      for (const body of [activity(1), '{', 'x'.repeat(6 * 1024 * 1024)]) await post(started, url, body);
    await expectSilence(started);
  });
});
