import { createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { deliveriesOf } from '../../support/clients/deliver.ts';
import { nowhere, startGateway } from '../../support/gateway/start.ts';
import { readAll } from '../support/builders.ts';
import { post, seen, startIngress } from '../support/ingress-server.ts';

const BODY = '{"activities":[]}';

const hmac = (secret: string, body: string | Uint8Array) =>
  createHmac('sha256', secret).update(body).digest();

test('a signature of the raw body with any of the secrets is accepted, in hex or base64', async () => {
  const { url } = await startIngress({ signature: { secrets: ['old', 'new'], header: 'x-signature' } });
  const signed = (signature: string, body: string | Uint8Array = BODY, headers = {}) =>
    post(url, body, { 'x-signature': signature, ...headers }).then(({ status }) => status);

  expect(await signed(hmac('old', BODY).toString('hex'))).toBe(200);
  expect(await signed(hmac('new', BODY).toString('hex').toUpperCase())).toBe(200);
  expect(await signed(`sha256=${hmac('new', BODY).toString('hex')}`)).toBe(200);
  expect(await signed(hmac('new', BODY).toString('base64'))).toBe(200);
  expect(await signed(`sha256=${hmac('new', BODY).toString('base64url')}`)).toBe(200);
  const zipped = gzipSync(BODY);
  for (const bytes of [zipped, BODY]) {
    expect(await signed(hmac('new', bytes).toString('hex'), zipped, { 'content-encoding': 'gzip' })).toBe(
      200,
    );
  }
});

test('a signature that is missing, wrong or of other bytes gets one generic answer', async () => {
  const { url, log } = await startIngress({ signature: { secrets: ['secret'] } });
  const right = hmac('secret', BODY).toString('hex');
  const wrong = [
    '',
    'sha256=',
    hmac('other', BODY).toString('hex'),
    right.slice(2),
    `${right}00`,
    `${right},${right}`,
  ];
  const answers = await Promise.all([
    ...wrong.map(async (signature) => seen(await post(url, BODY, { 'x-webhook-signature': signature }))),
    post(url, BODY).then(seen),
    post(url, `${BODY} `, { 'x-webhook-signature': right }).then(seen),
    post(url, 'not JSON', { 'x-webhook-signature': right }).then(seen),
  ]);
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(answers[0]?.status).toBe(401);
  expect(await readAll(log)).toEqual([]);
  expect((await post(url, BODY, { 'x-webhook-signature': right })).status).toBe(200);
});

test.each([
  [
    'that DELIVERY_SIGNATURE_HEADER names, in any case',
    'X-Hub-Signature',
    'x-hub-signature',
    'x-service-webhook-signature',
  ],
  [
    'whose name ends in webhook-signature, when the variable is empty',
    '',
    'x-service-webhook-signature',
    'x-signature',
  ],
])('the signature is in the header %s', async (_which, named, header, other) => {
  await using gateway = await startGateway({
    UPSTREAM_URL: nowhere,
    DELIVERY_SIGNATURE_SECRET: 'secret',
    DELIVERY_SIGNATURE_HEADER: named,
  });
  const { deliveryUrl } = await deliveriesOf(gateway.url);
  const signature = hmac('secret', BODY).toString('hex');
  expect((await post(deliveryUrl, BODY, { [other]: signature })).status).toBe(401);
  expect((await post(deliveryUrl, BODY, { [header]: signature })).status).toBe(200);
});
