import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { LogUnavailableError } from '../../../src/deliveries/log/errors.ts';
import type { AppendResult, DeliveryLog, StoredDelivery } from '../../../src/deliveries/log/log.ts';
import { balanceChange } from '../../support/clients/deliver.ts';
import { address, openLog, readAll, TENANT, WEBHOOK } from '../support/builders.ts';
import { post, seen, startIngress } from '../support/ingress-server.ts';

const BODY = '{"activities":[]}';
const MB = 1024 * 1024;

const sole = async (log: DeliveryLog): Promise<StoredDelivery> => {
  const [only, ...others] = await readAll(log);
  expect(others).toEqual([]);
  if (only === undefined) throw new Error('expected a stored delivery, got none');
  return only;
};

test('stores the fields of the headers under any prefix, and the body unchanged', async () => {
  const { url, log } = await startIngress();
  const body = ` {"transactions" :[]}\n`;
  const response = await post(url, body, {
    'content-type': 'application/json; charset=utf-8',
    'X-Any-Prefix-Webhook-Id': WEBHOOK.toUpperCase(),
    'x-any-prefix-webhook-type': 'balances',
    'x-any-prefix-webhook-chain-id': String(2 ** 40),
    'x-any-prefix-webhook-dispatch-timestamp': '2025-11-13T04:42:10.123456+00:00',
    'x-any-prefix-webhook-retry-index': '3',
  });
  expect(await seen(response)).toEqual({
    status: 200,
    body: '{"duplicate":false}',
    type: 'application/json',
  });
  const stored = await sole(log);
  expect(stored).toMatchObject({
    tenant: TENANT,
    webhookId: WEBHOOK,
    type: 'balances',
    chainId: 2 ** 40,
    dispatchedAt: Date.UTC(2025, 10, 13, 4, 42, 10, 123),
    attempt: 3,
    receivedAt: 1_000_000,
  });
  expect(Buffer.from(stored.body).toString()).toBe(body);
});

test('stores a body unchanged however many pieces it arrives in', async () => {
  const { url, log } = await startIngress();
  const bodies = [1, 60, 70, 100, 120, 180, 400].map((kib) => `{"a":"${'x'.repeat(1024 * kib)}"}`);
  for (const body of bodies) {
    // The second time, the connection is open, and the body comes right behind the head.
    for (const end of ['\n', '\n\n']) expect((await post(url, body + end)).status).toBe(200);
  }
  const stored = (await readAll(log)).map(({ body }) => Buffer.from(body).toString());
  expect(stored).toEqual(bodies.flatMap((body) => [`${body}\n`, `${body}\n\n`]));
});

test('headers that are missing or malformed are null', async () => {
  const { url, log } = await startIngress();
  await post(url, '{}', {
    'x-webhook-id': 'not-a-uuid',
    'x-webhook-type': 'nonsense',
    'x-webhook-chain-id': '99999999999999999999',
    'x-webhook-dispatch-timestamp': 'yesterday',
    'x-webhook-retry-index': '-1',
  });
  await post(url, '[]');
  const unknown = {
    webhookId: null,
    type: null,
    chainId: null,
    dispatchedAt: null,
    attempt: null,
    addresses: [],
  };
  expect(await readAll(log)).toMatchObject([unknown, unknown]);
});

test('fields that the headers leave out come from the body, and the webhook from the URL', async () => {
  const { url, log } = await startIngress();
  const item = {
    chain_id: 10,
    tx_from: address(1).toUpperCase().replace('0X', '0x'),
    tx_to: null,
    to: address(2),
    token_address: address(3),
    spender: 'nobody',
  };
  await post(`${url}?webhook=${WEBHOOK}`, JSON.stringify({ activities: [item, 7, item] }));
  expect(await sole(log)).toMatchObject({
    webhookId: WEBHOOK,
    type: 'activities',
    chainId: 10,
    addresses: [address(1), address(2), address(3)],
  });
});

test('a retry gets 200 as the first attempt did, and is stored once', async () => {
  const { url, log } = await startIngress();
  expect((await post(url, BODY, { 'x-webhook-retry-index': '0' })).status).toBe(200);
  const retry = await post(url, BODY, { 'x-webhook-retry-index': '1' });
  expect(await seen(retry)).toMatchObject({ status: 200, body: '{"duplicate":true}' });
  expect((await sole(log)).attempt).toBe(0);
});

test('one body on two chains, of which only the headers say, is two deliveries, each of which may be repeated', async () => {
  const { url, log } = await startIngress();
  const body = JSON.stringify(balanceChange(address(1), address(2), '5'));
  const postOn = async (chainId: number, attempt: number) => {
    const headers = {
      'x-webhook-id': WEBHOOK,
      'x-webhook-chain-id': String(chainId),
      'x-webhook-retry-index': String(attempt),
    };
    return (await seen(await post(url, body, headers))).body;
  };
  const [isNew, isRepeat] = ['{"duplicate":false}', '{"duplicate":true}'];
  expect([await postOn(1, 0), await postOn(8453, 0)]).toEqual([isNew, isNew]);
  expect([await postOn(8453, 1), await postOn(1, 1)]).toEqual([isRepeat, isRepeat]);
  expect((await readAll(log)).map(({ chainId }) => chainId)).toEqual([1, 8453]);
});

test('every wrong URL gets the same 404, with any method', async () => {
  const { url, deliveryUrls, port, log } = await startIngress({ signature: { secrets: ['s'] } });
  const other = deliveryUrls.urlOf(`http://127.0.0.1:${port}`, 'other');
  const token = (of: string) => of.split('/').at(-1) ?? '';
  const wrong = [
    url.slice(0, -1),
    `${url}/more`,
    url.replace('/default/', '/unknown/'),
    url.replace(token(url), token(other)),
    url.replace('/default/', '/%/'),
  ];
  const answers = await Promise.all(wrong.map(async (at) => seen(await post(at, 'not even JSON'))));
  answers.push(await seen(await fetch(wrong[0] ?? '')));
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(answers[0]).toMatchObject({ status: 404, body: '{"error":"not found"}' });
  expect((await fetch(url)).status).toBe(405);
  expect(await readAll(log)).toEqual([]);
});

test.each([
  'not JSON',
  '',
  '7',
  'null',
  '"text"',
  '"[text"',
  '{"a":1',
  '['.repeat(201),
  `${'['.repeat(201)}${']'.repeat(202)}`,
  Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
])('refuses the body %j with 400', async (body) => {
  const { url, log } = await startIngress();
  expect((await post(url, body)).status).toBe(400);
  expect(await readAll(log)).toEqual([]);
});

test.each([
  '[]',
  '{"of":"unknown shape"}',
  `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
  `${'['.repeat(201)}${']'.repeat(201)}`,
  `["${'{'.repeat(201)}"]`,
  '\ufeff{}',
])('stores the JSON %.40s', async (body) => {
  const { url, log } = await startIngress();
  expect((await post(url, body)).status).toBe(200);
  expect(Buffer.from((await sole(log)).body).toString()).toBe(body);
});

test('accepts 5 MB, and refuses one byte more, with or without Content-Length, also after decompression', async () => {
  const { url, log, port } = await startIngress();
  const bodyOf = (size: number) => `{"a":"${'x'.repeat(size - 8)}"}`;
  expect((await post(url, bodyOf(5 * MB))).status).toBe(200);
  expect((await post(url, bodyOf(5 * MB + 1))).status).toBe(413);
  expect((await post(url, gzipSync(bodyOf(50 * MB)), { 'content-encoding': 'gzip' })).status).toBe(413);

  const endless = connect(port, '127.0.0.1');
  endless.write(`POST ${new URL(url).pathname} HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n`);
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
  const send = () => {
    while (endless.writable && endless.write(chunk));
  };
  endless.on('drain', send).on('error', () => {});
  send();
  const answer = await new Promise<string>((resolve) =>
    endless.once('data', (data) => resolve(String(data))),
  );
  expect(answer).toMatch(/^HTTP\/1\.1 413 .*connection: close/is);
  await vi.waitFor(() => expect(endless.destroyed).toBe(true), 120_000);
  expect(await readAll(log)).toHaveLength(1);
});

test('decompresses gzip; refuses a body that is not the gzip it claims to be, and other encodings', async () => {
  const { url, log } = await startIngress();
  expect((await post(url, gzipSync(BODY), { 'content-encoding': 'gzip' })).status).toBe(200);
  expect((await post(url, BODY, { 'content-encoding': 'gzip' })).status).toBe(400);
  expect((await post(url, gzipSync(BODY).subarray(0, 20), { 'content-encoding': 'gzip' })).status).toBe(400);
  const other = await post(url, BODY, { 'content-encoding': 'br' });
  expect(other.status).toBe(415);
  expect(other.headers.get('accept-encoding')).toBe('gzip');
  expect(Buffer.from((await sole(log)).body).toString()).toBe(BODY);
});

test('answers 408 to a body that takes too long, and survives a sender that disconnects', async () => {
  const { url, log, port } = await startIngress({ limits: { timeoutMs: 20 } });
  const head = `POST ${new URL(url).pathname} HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\n{`;
  const slow = connect(port, '127.0.0.1');
  slow.write(head);
  const answer = await new Promise<string>((resolve) => slow.once('data', (data) => resolve(String(data))));
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  slow.destroy();

  const cut = connect(port, '127.0.0.1');
  await new Promise<void>((resolve) => cut.write(head, () => resolve()));
  cut.destroy();
  expect((await post(url, BODY)).status).toBe(200);
  expect(await readAll(log)).toHaveLength(1);
});

test('while the log is unavailable, answers 503 with Retry-After; a later attempt is stored', async () => {
  const log = await openLog();
  const append = log.append.bind(log);
  const { url } = await startIngress({ log });
  log.append = () => Promise.reject(new LogUnavailableError('disk full'));
  const refused = await post(url, BODY);
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await refused.text()).not.toContain('disk');
  log.append = append;
  expect((await post(url, BODY)).status).toBe(200);
});

test('answers once the delivery is durable, and calls onStored for a new one before that', async () => {
  const log = await openLog();
  const append = log.append.bind(log);
  const committing = Promise.withResolvers<void>();
  const appended: (readonly AppendResult[])[] = [];
  log.append = async (batch) => {
    await committing.promise;
    appended.push(await append(batch));
    return appended.at(-1) ?? [];
  };
  const onStored = vi.fn(() => expect(appended).toHaveLength(1));
  const { url } = await startIngress({ log, onStored });
  const answered = vi.fn();
  const body = JSON.stringify({ balance_changes: [{ subscribed_address: address(9) }] });
  const posting = post(url, body).then(answered);
  // Another request is answered meanwhile.
  await fetch(url);
  expect(answered).not.toHaveBeenCalled();
  committing.resolve();
  await posting;
  expect(answered).toHaveBeenCalledOnce();
  expect(onStored.mock.calls).toEqual([[TENANT, [address(9)], null]]);
  await post(url, body);
  expect(onStored).toHaveBeenCalledOnce();
});
