import { expect, test } from 'vitest';
import { redactChunks, redactText } from '../../src/upstream/client/responses/redact-key.ts';
import { heldKey, startGateway } from '../support/gateway/start.ts';
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
    expect(Buffer.concat(redactChunks(chunks, credential)).toString()).toBe(expected);
  }
});

test('bytes without the key stay the same chunks', () => {
  const chunks = [Buffer.from([0xff, 0xfe, 0x80]), Buffer.from(key.slice(0, 10)), Buffer.from('x')];
  expect(redactChunks(chunks, credential)).toBe(chunks);
});

test('a short key stays: it could occur by chance', () => {
  const short = { key: 'short', owner: 'client' } as const;
  expect(redactText('a short text', short)).toBe('a short text');
  expect(Buffer.concat(redactChunks([Buffer.from('a short text')], short)).toString()).toBe('a short text');
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
