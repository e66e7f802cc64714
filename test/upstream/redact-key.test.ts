import { describe, expect, test } from 'vitest';
import { transactions } from '../../src/lookups/transactions.ts';
import { hasEscaped, redactChunks, redactText, secretOf } from '../../src/upstream/client/redact-key.ts';
import { heldKey, startGateway } from '../support/gateway/start.ts';
import { kernel } from '../support/kernel/differential.ts';
import { freshAddress, transaction, transactionsEnvelope } from '../support/upstream/builders.ts';
import { startFakeService } from '../support/upstream/fake-service.ts';
import { toJson } from '../support/upstream/json.ts';

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

describe('JSON with escapes', () => {
  const odd = 'k/"\\-_=+u0061.n:{}[1]';
  const unicode = (text: string, upper: boolean) =>
    Array.from(text, (character) => {
      const hex = character.charCodeAt(0).toString(16).padStart(4, '0');
      return `\\u${upper ? hex.toUpperCase() : hex}`;
    }).join('');
  /** Ways to write the same JSON string, without its quotes. */
  const spellings = (text: string): string[] => {
    const plain = JSON.stringify(text).slice(1, -1);
    const one = Array.from(text, (_, index) => {
      const [before, after] = [text.slice(0, index), text.slice(index + 1)].map((part) =>
        JSON.stringify(part).slice(1, -1),
      );
      return `${before}${unicode(text.charAt(index), index % 2 === 0)}${after}`;
    });
    return [plain, plain.replaceAll('/', '\\/'), unicode(text, false), unicode(text, true), ...one];
  };
  const split = (json: string): Buffer[] => [Buffer.from(json.slice(0, 7)), Buffer.from(json.slice(7))];

  test.each([
    ['an ordinary key', key],
    ['one of all characters', odd],
    ['the longest', `a-long-key-${'x/'.repeat(2000)}`],
  ])('never hide %s', (_which, text) => {
    const secret = secretOf({ key: text, owner: 'client' });
    for (const spelling of spellings(text).slice(0, 60)) {
      const json = `{"é":"\\n\\\\${spelling}\\\\","${spelling}":[1]}`;
      expect(JSON.parse(json)).toEqual({ é: `\n\\${text}\\`, [text]: [1] });
      const redacted = Buffer.concat(redactChunks(split(json), secret)).toString();
      expect(JSON.parse(redacted)).toEqual({ é: '\n\\[key]\\', '[key]': [1] });
      const isEscaped = !json.includes(text);
      if (isEscaped) expect(hasEscaped(split(json), secret)).toBe(true);
      expect(redactText(spelling, { key: text, owner: 'client' })).toBe('[key]');
    }
  });

  test('is left as it is where an escape is no part of the key', () => {
    const named = 'never-shown-4c1f9a';
    const secret = secretOf({ key: named, owner: 'client' });
    for (const json of [
      `{"a":"\\${named}"}`,
      `{"a":"\\\\u006e${named.slice(1)}"}`,
      '{"a":"\\u006e \\/ \\u00e9"}',
      `{"a":"\\u006e${named.slice(1, -1)}"}`,
    ]) {
      const chunks = split(json);
      expect(redactChunks(chunks, secret)).toBe(chunks);
      expect(hasEscaped(chunks, secret)).toBe(false);
    }
  });
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
    kernel.index([body.subarray(0, 9), body.subarray(9)], transactions, 10, looked);
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

describe.each([
  ['in a page', 200],
  ['in an error', 400],
])('a client does not see a key that escapes hide, %s', (_where, status) => {
  test.each([
    [
      'all of it',
      (text: string) => Array.from(text, (each) => `\\u00${each.charCodeAt(0).toString(16)}`).join(''),
    ],
    ['a part of it', (text: string) => text.replaceAll('-', '\\u002D')],
    ['its slashes', (text: string) => text.replaceAll('/', '\\/')],
  ])('%s', async (_which, escaped) => {
    const slashed = `${heldKey}/a/b=`;
    const page = transactionsEnvelope([
      transaction({ chain: `before ${slashed} after`, data: null }),
      transaction({ data: `0x ${slashed}` }),
    ]);
    const text = (status === 200 ? toJson(page) : toJson({ error: `no ${slashed} here` })).replaceAll(
      slashed,
      escaped(slashed),
    );
    const headers = { 'content-type': 'application/json' };
    await using fake = await startFakeService({ transactions: () => ({ status, text, headers }) });
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url, UPSTREAM_API_KEY: slashed });
    const reply = await gateway.query(
      'query ($address: Address!) { wallet(address: $address) { transactions { nodes { chain data } } } }',
      { address: freshAddress() },
    );
    expect(reply.body).toContain('[key]');
    expect(JSON.stringify(JSON.parse(reply.body))).not.toContain(slashed);
    expect(reply.body).not.toContain(heldKey);
  });
});
