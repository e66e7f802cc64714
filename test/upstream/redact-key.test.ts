import { expect, test } from 'vitest';
import { redactChunks, redactText, secretOf } from '../../src/upstream/client/responses/redact-key.ts';
import { heldKey, startGateway } from '../support/gateway/start.ts';
import { kernel, LISTS } from '../support/kernel/differential.ts';
import { freshAddress, transaction, transactionsEnvelope } from '../support/upstream/builders.ts';
import { startFakeService } from '../support/upstream/fake-service.ts';

const key = 'a-key-of-upstream-0a1b2c';
const credential = { key, owner: 'gateway' } as const;

test('a key is removed wherever chunks split it', () => {
  const body = `{"a":"é${key}é${key}","b":"${key.slice(1)}${key.slice(0, -1)}"}`;
  const expected = body.replaceAll(key, '[key]');
  const bytes = Buffer.from(body);
  for (let size = 1; size <= bytes.length; size += 1) {
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
    expect(Buffer.concat(redactChunks(chunks, secretOf(credential))).toString()).toBe(expected);
  }
});

test('bytes without the key stay the same chunks', () => {
  const chunks = [Buffer.from([0xff, 0xfe, 0x80]), Buffer.from(key.slice(0, 10)), Buffer.from('x')];
  expect(redactChunks(chunks, secretOf(credential))).toBe(chunks);
});

test('the kernel leaves a body with the secret to the plain parser, wherever it is', () => {
  const secret = Buffer.from('0x0123456789abcdef');
  const bodyWith = (padding: string, text: string) =>
    Buffer.from(`${padding}{"transactions":[],"next_offset":"${text}"}${' '.repeat(40)}`);
  const index = (body: Buffer, looked: Buffer | null) =>
    kernel.index([body.subarray(0, 9), body.subarray(9)], LISTS.transactions, 10, looked);
  for (let at = 0; at < 40; at += 1) {
    const padding = ' '.repeat(at);
    expect(index(bodyWith(padding, `${secret}`), secret)).toBe(null);
    expect(index(bodyWith(padding, `x0${secret}0x`), secret)).toBe(null);
    expect(index(bodyWith(padding, `${secret}`), null)?.length).toBe(0);
    for (const text of ['', `${secret.subarray(1)}`, `0x0123456789abcdex${secret.subarray(0, -1)}`])
      expect(index(bodyWith(padding, text), secret)?.length).toBe(0);
  }
  const atEnd = Buffer.from('{"transactions":[]}');
  for (let length = 1; length <= atEnd.length; length += 1) {
    expect(index(atEnd, atEnd.subarray(-length))).toBe(null);
    expect(index(atEnd, Buffer.concat([atEnd.subarray(-length), Buffer.from([0])]))?.length).toBe(0);
  }
});

test('a short key stays: it could occur by chance', () => {
  const short = { key: 'short', owner: 'client' } as const;
  expect(redactText('a short text', short)).toBe('a short text');
  expect(Buffer.concat(redactChunks([Buffer.from('a short text')], secretOf(short))).toString()).toBe(
    'a short text',
  );
});

test('a client does not see the key of an answer that arrives in pieces', async () => {
  const json = transactionsEnvelope([transaction({ chain: `before ${heldKey} after` })]);
  const start = JSON.stringify(json).indexOf(heldKey);
  const pausesAt = [start + 1, start + 5, start + heldKey.length - 1];
  await using fake = await startFakeService({ transactions: () => ({ json, pausesAt }) });
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const reply = await gateway.query<{ wallet: { transactions: { nodes: { chain: string }[] } } }>(
    'query ($address: Address!) { wallet(address: $address) { transactions { nodes { chain } } } }',
    { address: freshAddress() },
  );
  expect(reply.data?.wallet.transactions.nodes).toEqual([{ chain: 'before [key] after' }]);
});
