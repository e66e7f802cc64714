import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { activity, deliveriesOf } from '../../support/clients/deliver.ts';
import { overHttp, type Send, TRANSPORTS } from '../../support/clients/transports.ts';
import { acceptingKeys, byKey, withKey } from '../../support/gateway/keys.ts';
import { PRODUCTION, type Shipped, startGatewayProcess } from '../../support/gateway/process.ts';
import { heldKey } from '../../support/gateway/start.ts';
import { bearer, byToken, claimsOf, jwtSecret, tokenOf } from '../../support/gateway/tokens.ts';
import { startOtlpReceiver } from '../../support/observability/otlp-receiver.ts';
import { freshAddress, transaction, transactionsEnvelope } from '../../support/upstream/builders.ts';
import type { Reply } from '../../support/upstream/fake-service.ts';

/** Keys, tokens and secrets are in no answer, in no log line and in no span, whatever goes wrong and whoever repeats them. */

const clientKey = 'brought-by-a-client-93be07d1';
const deliverySecret = 'signs-delivery-urls-2f7a9c';
const signatureSecret = 'signs-deliveries-8d0e44';
const receiverToken = 'shown-to-the-receiver-5b81d2';
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
  ['AUTH=key', { ...byKey, ...PRODUCTION }, async () => withKey(clientKey)],
  ['AUTH=jwt', byToken, async () => bearer(await tokenOf())],
];

describe.each(modes)(
  'the shipped process with %s reveals no key, token or secret',
  (mode, env, credentialsOf) => {
    let receiver: Awaited<ReturnType<typeof startOtlpReceiver>>;
    let shipped: Shipped;
    let before: number;
    let credentials: Record<string, string>;
    let token: string;
    let deliveryUrl: string;
    let secrets: Record<string, string>;
    beforeAll(async () => {
      receiver = await startOtlpReceiver();
      shipped = await startGatewayProcess({
        ...receiver.env,
        OTEL_EXPORTER_OTLP_HEADERS: `authorization=${receiverToken}`,
        DELIVERY_SECRET: deliverySecret,
        DELIVERY_SIGNATURE_SECRET: signatureSecret,
        DELIVERY_SIGNATURE_HEADER: 'x-signature',
        UPSTREAM_TIMEOUT_MS: '500',
        LOG_LEVEL: 'debug',
        ...env,
      });
      before = await shipped.megabytes();
      shipped.fake.script.other = acceptingKeys;
      credentials = await credentialsOf();
      token = credentials.authorization?.split(' ')[1] ?? (await tokenOf());
      ({ deliveryUrl } = await deliveriesOf(shipped.url, credentials));
      const deliveryToken = deliveryUrl.split('/').at(-1) ?? '';
      secrets = {
        heldKey,
        clientKey,
        token,
        jwtSecret,
        deliverySecret,
        signatureSecret,
        deliveryToken,
        receiverToken,
      };
    });
    afterAll(async () => {
      await shipped[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    });

    const expectSilence = (raw: readonly string[]) => {
      for (const [name, secret] of Object.entries(secrets)) {
        const leaks = raw.filter((text) => text.includes(secret));
        expect(leaks.map((text) => `${name}: ${text.slice(0, 500)}`)).toEqual([]);
      }
    };

    const ask = async (send: Send, query: string, shown = credentials): Promise<string> => {
      const variables = query === lookup ? { address: freshAddress() } : {};
      return (await send(shipped.url, { query, variables }, shown)).raw;
    };

    /** Each on a transport of its own, by turns. */
    const askAll = (turn: number) =>
      Promise.all(
        [lookup, webhooks, update].map((query, place) => {
          const [, send = overHttp] = TRANSPORTS[(turn + place) % TRANSPORTS.length] ?? [];
          return ask(send, query);
        }),
      );

    const replies = repeating(mode === 'AUTH=key' ? clientKey : heldKey);
    test.each(replies.map((reply, number) => ({ ...reply, number })))(
      'when the service answers $status and repeats the key: $number',
      async ({ number, ...reply }) => {
        const { script, requests } = shipped.fake;
        // One good answer of each resource between, so that no circuit breaker leaves the service alone.
        script.transactions = () => ({ json: transactionsEnvelope([]) });
        script.other = () => ({ json: { webhooks: [] } });
        await ask(overHttp, lookup);
        await ask(overHttp, '{ webhooks { nodes { name } } }');
        script.transactions = () => reply;
        script.other = () => reply;
        requests.length = 0;
        expectSilence(await askAll(number));
        expect(new Set(requests.map(({ method, path }) => `${method} ${path}`)).size).toBeGreaterThanOrEqual(
          4,
        );
      },
    );

    test('when a client shows something wrong', async () => {
      const wrongs = [`${token}x`, token.slice(0, -3), `${token}.${token}`, jwtSecret, `x${clientKey}`];
      const attempts = wrongs.flatMap((wrong) => [
        { authorization: `Bearer ${wrong}` },
        { authorization: wrong },
        { authorization: `Bearer ${wrong} ${wrong}` },
        { 'x-service-api-key': `${wrong} ${wrong}` },
      ]);
      for (const [, send] of TRANSPORTS)
        for (const attempt of attempts) expectSilence([await ask(send, lookup, attempt)]);
    });

    test('when a delivery is forged', async () => {
      for (const url of [deliveryUrl, `${deliveryUrl}x`, `${deliveryUrl}/more`, deliveryUrl.slice(0, -1)])
        for (const body of [JSON.stringify(activity(1)), '{', 'x'.repeat(6 * 1024 * 1024)]) {
          const headers = { 'content-type': 'application/json', 'x-signature': signatureSecret };
          const response = await fetch(url, { method: 'POST', headers, body });
          expect(response.status).toBe(url === deliveryUrl ? (body.length > 1000 ? 413 : 401) : 404);
          expectSilence([await response.text(), JSON.stringify([...response.headers])]);
        }
    });

    test('when the service is gone', async () => {
      await shipped.fake.goDown();
      for (const turn of TRANSPORTS.keys()) expectSilence(await askAll(turn));
    });

    test('in the spans that are exported of all that', async () => {
      const expected = ['POST /graphql', 'WEBSOCKET /graphql', 'query', 'GET transactions', 'PATCH webhooks'];
      for (const name of [...expected, 'POST /deliveries/{tenant}/{token}']) await receiver.named(name);
      const bodies = receiver.exports.map(({ body }) => body.toString());
      expectSilence(bodies);
      // Nor a wallet, a webhook, the subject of a token, or a path with one of them.
      const { sub = '' } = claimsOf();
      for (const shown of [
        /0x[0-9a-f]{40}/i,
        new RegExp(WEBHOOK),
        new RegExp(`"${sub}"`),
        /\/deliveries\/[^{]/,
      ])
        expect(bodies.filter((body) => shown.test(body))).toEqual([]);
    });

    test('in what is logged of all that; and the process is as it was', async () => {
      expect(shipped.lines.length).toBeGreaterThan(replies.length);
      expectSilence(shipped.lines);
      expect((await shipped.megabytes()) - before).toBeLessThan(256);
      const response = await fetch(`${shipped.url}/health/live`);
      expect(response.status).toBe(200);
    });
  },
);
