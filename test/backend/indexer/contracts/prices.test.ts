import { rename, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { openPrices } from '../../../../src/backend/indexer/contracts/prices.ts';
import { folderOf } from '../../../support/folder.ts';
import { endless, serve } from '../support/server.ts';

const TOKEN = '0x00000000000000000000000000000000000000ab';
const NOON = Date.UTC(2026, 5, 1, 12);
const HOUR = 3_600_000;

const CHAINS = [
  ...([
    [1, 'ethereum', 'ETH'],
    [56, 'bnb', 'BNB'],
    [8453, 'base', 'ETH'],
    [31337, 'chain_31337', 'ETH'],
    [31338, 'mychain', 'POL'],
  ] as const),
].map(([id, name, symbol]) => ({ id, name, native: { symbol, name: symbol, decimals: 18 } }));

type Line = { readonly message: string; readonly source?: unknown; readonly problem?: unknown };

const open = async (source: string, now = () => NOON) => {
  const lines: Line[] = [];
  const log = (message: string, details: object) => void lines.push({ message, ...details });
  const prices = await openPrices({ source, chains: CHAINS, log, now, everyMs: 10 });
  return { ...prices, lines, [Symbol.asyncDispose]: prices.close };
};

/** Replaces a file at once, so that no half of it can be read. */
const replace = async (path: string, text: string): Promise<void> => {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
};

test('prices of a file are read again when it changes', async () => {
  await using files = await folderOf({
    'prices.json': JSON.stringify({ 31337: { native: 3120.5, [TOKEN.toUpperCase().replace('X', 'x')]: 1 } }),
  });
  await using prices = await open(files.path('prices.json'));
  expect(prices.price(31337, null, NOON)).toBe(3120.5);
  expect(prices.price(31337, TOKEN, NOON)).toBe(1);
  expect(prices.price(1, null, NOON)).toBeNull();
  await replace(files.path('prices.json'), JSON.stringify({ 31337: { native: 0 } }));
  await expect.poll(() => prices.price(31337, null, NOON)).toBe(0);
  expect(prices.price(31337, TOKEN, NOON)).toBeNull();
  expect(prices.lines).toEqual([]);
});

test('a price counts from an hour before it was first read, until another is read', async () => {
  let time = NOON;
  await using files = await folderOf({ 'prices.json': `{"1":{"native":3000,"${TOKEN}":1}}` });
  await using prices = await open(files.path('prices.json'), () => time);
  expect(prices.price(1, null, NOON - HOUR)).toBe(3000);
  expect(prices.price(1, null, NOON - HOUR - 1)).toBeNull();
  time += 24 * HOUR;
  await replace(files.path('prices.json'), `{"1":{"native":3500,"${TOKEN}":1}}`);
  await expect.poll(() => prices.price(1, null, time)).toBe(3500);
  expect(prices.price(1, null, time - 2 * HOUR)).toBeNull();
  expect(prices.price(1, TOKEN, time - 2 * HOUR)).toBe(1);
});

test.each([
  ['no JSON', '{"1":', /expected a JSON object of chain ids.*got "\{\\"1\\":"/],
  ['a list', '[]', /expected a JSON object of chain ids.*got \[\]/],
  ['no chain id', '{"one":{}}', /expected a chain id, got "one"/],
  ['no list of a chain', '{"1":3000}', /expected a JSON object.*got 3000 for chain 1/],
  ['no asset', '{"1":{"ETH":3000}}', /expected `native` or an address for chain 1, got "ETH"/],
  [
    'no number',
    '{"1":{"native":"3000"}}',
    /expected a number from 0 to 1000000000000000 for native of chain 1, got "3000"/,
  ],
  ['a negative number', '{"1":{"native":-1}}', /got -1/],
  ['a number beyond all money', '{"1":{"native":1e16}}', /got 10000000000000000/],
  ['infinity', '{"1":{"native":1e999}}', /got null/],
  ['another name', `{"1":{"__proto__":${'{"native":3000}'}}}`, /got "__proto__"/],
])('%s is one log line, and the last good prices stay', async (_, bad, problem) => {
  await using files = await folderOf({ 'prices.json': '{"1":{"native":3000}}' });
  const path = files.path('prices.json');
  await using prices = await open(path);
  await replace(path, bad);
  await expect.poll(() => prices.lines).toHaveLength(1);
  expect(prices.lines[0]).toMatchObject({ source: path, problem: expect.stringMatching(problem) });
  expect(prices.price(1, null, NOON)).toBe(3000);
  await replace(path, '{"1":{"native":4000.25}}');
  await expect.poll(() => prices.price(1, null, NOON)).toBe(4000.25);
  expect(prices.lines.map(({ message }) => message)).toEqual([
    'prices could not be read: the last ones stay',
    'prices are read again',
  ]);
});

const pairsOf = (prices: Awaited<ReturnType<typeof open>>) =>
  CHAINS.map(({ id }) => [prices.price(id, null, NOON), prices.price(id, TOKEN, NOON)]);

test.each([
  [
    "DefiLlama's coins",
    {
      coins: {
        'coingecko:ethereum': { price: 3120.5, symbol: 'ETH', timestamp: 1780000000, confidence: 0.99 },
        [`base:${TOKEN.toUpperCase()}`]: { decimals: 6, price: 1.001, symbol: 'USDC', confidence: 0.99 },
        'bsc:0x0000000000000000000000000000000000000000': { price: 864.2, symbol: 'BNB' },
        [`ethereum:${TOKEN}`]: { symbol: 'X' },
        [`fantom:${TOKEN}`]: { price: 2, symbol: 'X' },
      },
    },
    [
      [3120.5, null],
      [864.2, null],
      [3120.5, 1.001],
      [3120.5, null],
      [null, null],
    ],
  ],
  [
    "CoinGecko's prices by id",
    {
      ethereum: { usd: 3120.5, usd_24h_change: -1 },
      'polygon-ecosystem-token': { usd: 0.12 },
      dogecoin: { usd: 0.1 },
    },
    [
      [3120.5, null],
      [null, null],
      [3120.5, null],
      [3120.5, null],
      [0.12, null],
    ],
  ],
  [
    "CoinGecko's prices by symbol",
    { bnb: { usd: 864.2 }, pol: { usd: null } },
    [
      [null, null],
      [864.2, null],
      [null, null],
      [null, null],
      [null, null],
    ],
  ],
  [
    "CoinGecko's markets",
    [
      { id: 'ethereum', symbol: 'eth', name: 'Ethereum', current_price: 3120.5 },
      { id: 'x', symbol: 'pol', current_price: null },
    ],
    [
      [3120.5, null],
      [null, null],
      [3120.5, null],
      [3120.5, null],
      [null, null],
    ],
  ],
])('a URL may answer in the shape of %s', async (_, answer, expected) => {
  await using server = await serve((_request, response) => response.end(JSON.stringify(answer)));
  await using prices = await open(`http://${server.host}`);
  expect(pairsOf(prices)).toEqual(expected);
  expect(prices.lines).toEqual([]);
});

test('a file that comes later is read then', async () => {
  await using files = await folderOf({ 'other.json': '{}' });
  await using prices = await open(files.path('prices.json'));
  expect(prices.lines).toMatchObject([{ problem: expect.stringContaining('ENOENT') }]);
  await replace(files.path('prices.json'), '{"1":{"native":1}}');
  await expect.poll(() => prices.price(1, null, NOON)).toBe(1);
});

test('a URL is asked again and again, with its credentials, which no log line has', async () => {
  let answer = '{"1":{"native":3000}}';
  let status = 200;
  const asked: (string | undefined)[] = [];
  await using server = await serve((request, response) => {
    asked.push(request.headers.authorization);
    response.writeHead(status).end(answer);
  });
  await using prices = await open(`http://user:secret@${server.host}/prices?key=hidden`);
  expect(prices.price(1, null, NOON)).toBe(3000);
  expect(asked[0]).toBe(`Basic ${Buffer.from('user:secret').toString('base64')}`);
  answer = '{"1":{"native":3001}}';
  await expect.poll(() => prices.price(1, null, NOON)).toBe(3001);
  status = 503;
  await expect.poll(() => prices.lines).toHaveLength(1);
  const before = asked.length;
  await expect.poll(() => asked.length).toBeGreaterThan(before + 3);
  expect(prices.lines).toHaveLength(1);
  expect(prices.lines[0]).toMatchObject({ problem: expect.stringContaining('expected status 200, got 503') });
  expect(JSON.stringify(prices.lines)).not.toMatch(/secret|hidden/);
  expect(prices.price(1, null, NOON)).toBe(3001);
});

test('an answer without end is given up at 16 MB', async () => {
  const { listener, sent } = endless();
  await using server = await serve(listener);
  await using prices = await open(`http://${server.host}`);
  expect(prices.lines).toHaveLength(1);
  expect(sent()).toBeLessThan(64 * 1024 * 1024);
});
