import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ExplorerError, type Fault as Named } from '../../../src/backend/explorer/client/errors.ts';
import { OPERATIONS } from '../../../src/backend/explorer/client/operations.ts';
import { madeUp, WALLET } from '../../support/blockscout/made-up.ts';
import { type Fault, startBlockscout } from '../../support/blockscout/server.ts';
import { hashOf } from '../indexer/support/blocks.ts';
import { endless, serve } from '../indexer/support/server.ts';
import { askTransactions, faultOf, KEY, LISTS, startAsking } from './support/asking.ts';

const contents = madeUp();
const hosted = { key: KEY };
const MIDNIGHT = Date.UTC(2026, 10, 28, 0, 1);
const NOW = Date.UTC(2026, 10, 27, 12);

const startHosted = (now = () => NOW) => startBlockscout({ chains: [{ id: 1, contents }], hosted, now });
const startInstance = () => startBlockscout({ chains: [{ id: 1, contents }], now: () => NOW });

const isList = ({ path }: { readonly path: string }): boolean => path.endsWith('/transactions');

/** What explorers answer that is no answer. */
const FAULTS: readonly (readonly [name: string, fault: Fault, hosted: Named, instance: Named])[] = [
  ['401', { status: 401, json: { error: 'Unauthorized' } }, { kind: 'badKey' }, { kind: 'badKey' }],
  [
    '402 without credits',
    { status: 402, json: { error: 'Out of credits' } },
    { kind: 'outOfCredits', until: MIDNIGHT },
    { kind: 'outOfCredits', until: MIDNIGHT },
  ],
  [
    '402 with a request to pay',
    { status: 402, headers: { 'payment-required': 'e30=' }, json: { error: `Pay for ${KEY}` } },
    { kind: 'outOfCredits', until: MIDNIGHT },
    { kind: 'noKey' },
  ],
  ['403 of Cloudflare', { status: 403, text: 'error code: 1010' }, { kind: 'blocked' }, { kind: 'blocked' }],
  ['403 in HTML', { status: 403, text: '<html>no</html>' }, { kind: 'blocked' }, { kind: 'blocked' }],
  [
    '403 of the explorer',
    { status: 403, json: { message: 'Restricted access' } },
    { kind: 'restricted' },
    { kind: 'restricted' },
  ],
  [
    '404 of the hosted API',
    { status: 404, json: { error: 'Not found', source: 'internal' } },
    { kind: 'notHosted' },
    { kind: 'malformed', where: 'status 404' },
  ],
  [
    '404 of an instance',
    { status: 404, json: { message: 'Not found' } },
    { kind: 'notFound' },
    { kind: 'notFound' },
  ],
  [
    '404 of another server',
    { status: 404, text: '<html>nothing here</html>' },
    { kind: 'malformed', where: 'status 404' },
    { kind: 'malformed', where: 'status 404' },
  ],
  [
    '404 of a route',
    { status: 404, json: { message: 'Page not found' } },
    { kind: 'malformed', where: 'status 404' },
    { kind: 'malformed', where: 'status 404' },
  ],
  [
    '422 for a parameter',
    {
      status: 422,
      json: {
        errors: [
          { title: KEY, source: { pointer: '/items_count' }, detail: KEY },
          { source: { pointer: KEY } },
        ],
      },
    },
    { kind: 'rejected', status: 422, parameters: ['items_count'] },
    { kind: 'rejected', status: 422, parameters: ['items_count'] },
  ],
  [
    '422 for a hash',
    { status: 422, json: { message: `Invalid ${KEY}` } },
    { kind: 'rejected', status: 422, parameters: [] },
    { kind: 'rejected', status: 422, parameters: [] },
  ],
  [
    '429',
    { status: 429, json: { message: 'Too many requests' } },
    { kind: 'rateLimited', until: NOW + 1_000 },
    { kind: 'rateLimited', until: NOW + 60_000 },
  ],
  [
    '500 of a database',
    { status: 500, json: { message: KEY } },
    { kind: 'failed', status: 500, isInstance: false },
    { kind: 'failed', status: 500, isInstance: false },
  ],
  [
    '502 for an instance',
    { status: 502, json: { error: KEY, source: 'upstream' } },
    { kind: 'failed', status: 502, isInstance: true },
    { kind: 'failed', status: 502, isInstance: false },
  ],
  [
    '503 in HTML',
    { status: 503, text: '<html>maintenance</html>' },
    { kind: 'failed', status: 503, isInstance: false },
    { kind: 'failed', status: 503, isInstance: false },
  ],
  [
    'a redirect',
    { status: 302, headers: { location: '/elsewhere' } },
    { kind: 'redirected' },
    { kind: 'redirected' },
  ],
  ...(
    [
      ['other JSON', { json: { message: 'ok' } }, 'items'],
      ['no items', { change: (body) => ({ ...members(body), items: undefined }) }, 'items'],
      ['items that are null', { change: (body) => ({ ...members(body), items: null }) }, 'items'],
      ['items that are an object', { change: (body) => ({ ...members(body), items: {} }) }, 'items'],
      [
        'no cursor',
        { change: (body) => ({ ...members(body), next_page_params: undefined }) },
        'next_page_params',
      ],
      [
        'a cursor of objects',
        { change: (body) => ({ ...members(body), next_page_params: { [KEY]: { a: 1 } } }) },
        'next_page_params',
      ],
      [
        'a cursor to the start',
        { change: (body) => ({ ...members(body), next_page_params: {} }) },
        'next_page_params',
      ],
      ['a list', { json: [] }, 'the body'],
      ['null', { json: null }, 'the body'],
      ['HTML', { text: '<html>a challenge</html>' }, 'the body'],
      ['nothing', { text: '' }, 'the body'],
      ['a part of JSON', { text: '{"items":[' }, 'the body'],
      ['another success', { status: 202, json: { items: [], next_page_params: null } }, 'status 202'],
    ] satisfies readonly (readonly [string, Fault, string])[]
  ).map(([name, fault, where]): (typeof FAULTS)[number] => {
    const expected: Named = { kind: 'malformed', where };
    return [name, fault, expected, expected];
  }),
  ['a cut body', { cutAfter: 20 }, { kind: 'unreachable' }, { kind: 'unreachable' }],
];

const members = (body: unknown) => z.looseObject({}).parse(body);

describe.each(FAULTS)('%s', (_, fault, ofHosted, ofInstance) => {
  test.each([
    ['the hosted API', () => startHosted(), ofHosted],
    ['an instance', () => startInstance(), ofInstance],
  ])('of %s is an error with its name, and without the key', async (_, start, expected) => {
    await using explorer = await start();
    await using asking = startAsking();
    explorer.plant(fault, isList);
    const asked = asking.until(askTransactions(asking.client, explorer.chain()));
    const problem: unknown = await asked.catch((reason: unknown) => reason);
    expect(problem).toBeInstanceOf(ExplorerError);
    expect(problem).toMatchObject({ chainId: 1, fault: expected });
    expect(`${inspect(problem, { depth: 9, showHidden: true })} ${String(problem)}`).not.toContain(KEY);
    for (const { target } of explorer.requests) expect(target).not.toContain(KEY);
    // Only what may pass is asked for once more.
    const times = expected.kind === 'failed' || expected.kind === 'unreachable' ? 2 : 1;
    expect(explorer.requests.filter(isList)).toHaveLength(times);
  });
});

test('a failure that passes is not seen', async () => {
  await using explorer = await startInstance();
  await using asking = startAsking();
  explorer.plant({ status: 500, json: { message: 'timeout' } }, isList, 1);
  const { items } = await asking.until(askTransactions(asking.client, explorer.chain()));
  expect(items).toHaveLength(3);
});

describe('The key', () => {
  test('that is missing or wrong is named', async () => {
    await using explorer = await startHosted();
    await using asking = startAsking();
    const chain = explorer.chain();
    const without = { ...chain, headers: {} };
    expect(await faultOf(asking.until(askTransactions(asking.client, without)))).toEqual({ kind: 'noKey' });
    await using other = startAsking();
    const wrong = { ...chain, headers: { authorization: 'Bearer other' } };
    expect(await faultOf(other.until(askTransactions(other.client, wrong)))).toEqual({ kind: 'badKey' });
  });

  test('is tried again after a minute, not before', async () => {
    await using explorer = await startHosted();
    await using asking = startAsking();
    const wrong = { ...explorer.chain(), headers: { authorization: 'Bearer other' } };
    const ask = async (chain = wrong) => faultOf(asking.until(askTransactions(asking.client, chain)));
    await ask();
    const { length } = explorer.requests;
    expect(await ask()).toEqual({ kind: 'badKey' });
    expect(explorer.requests).toHaveLength(length);
    asking.clock.advance(60_000);
    const { items } = await asking.until(askTransactions(asking.client, explorer.chain()));
    expect(items).toHaveLength(3);
  });

  test('is in a header of each request, as are the others that explorers want', async () => {
    await using asking = startAsking();
    await using explorer = await startHosted(asking.clock.now);
    for (const list of LISTS) await asking.until(list.ask(asking.client, explorer.chain()));
    const { client } = asking;
    await asking.until(client.one(explorer.chain(), OPERATIONS.stats, {}, client.lookup('one')));
    for (const { headers, target } of explorer.requests) {
      expect(headers).toMatchObject({
        ...{ authorization: `Bearer ${KEY}`, 'user-agent': 'gateway-test/1.0' },
        ...{ accept: 'application/json', 'show-scam-tokens': 'true' },
      });
      expect(target).not.toContain(KEY);
    }
    expect(explorer.requests.length).toBeGreaterThan(LISTS.length);
  });

  test('does not follow a redirect', async () => {
    await using explorer = await startHosted();
    await using stranger = await startInstance();
    await using asking = startAsking();
    explorer.plant({ status: 307, headers: { location: `${stranger.url}/api/v2/stats` } });
    const asked = asking.until(askTransactions(asking.client, explorer.chain()));
    expect(await faultOf(asked)).toEqual({ kind: 'redirected' });
    expect(stranger.requests).toEqual([]);
  });
});

test('a chain that is not hosted is named, and the others answer', async () => {
  await using explorer = await startHosted();
  await using asking = startAsking();
  const { client } = asking;
  expect(await faultOf(asking.until(askTransactions(client, explorer.chain(56))))).toEqual({
    kind: 'notHosted',
  });
  expect(await asking.until(askTransactions(client, explorer.chain(1)))).toMatchObject({ next: null });
});

test.each([
  ['not hosted', 5, '12.0.2', { kind: 'notHosted' }],
  ['of an old version', 1, '10.2.0', { kind: 'tooOld', major: 10 }],
])(
  'a chain that is %s is asked for after one minute, and then two, and until then by no lookup',
  async (_, id, version, fault) => {
    await using asking = startAsking();
    await using explorer = await startBlockscout({
      ...{ chains: [{ id: 1, contents, version }], hosted, now: asking.clock.now },
    });
    const ask = () => asking.until(askTransactions(asking.client, explorer.chain(id)));
    expect(await faultOf(ask())).toEqual(fault);
    for (const [at, pauseMs] of [60_000, 120_000].entries()) {
      asking.clock.advance(pauseMs - 1);
      expect(await faultOf(ask())).toEqual(fault);
      expect(explorer.requests).toHaveLength(at + 1);
      asking.clock.advance(1);
      expect(await faultOf(ask())).toEqual(fault);
      expect(explorer.requests).toHaveLength(at + 2);
    }
  },
);

test('a chain whose explorer was too old is read once it is a newer one', async () => {
  await using asking = startAsking();
  await using explorer = await startBlockscout({ chains: [{ id: 1, contents, version: '10.2.0' }] });
  const ask = () => asking.until(askTransactions(asking.client, explorer.chain()));
  expect(await faultOf(ask())).toEqual({ kind: 'tooOld', major: 10 });
  explorer.update('12.0.2');
  asking.clock.advance(60_000);
  expect(await ask()).toMatchObject({ next: null });
});

test('what the explorer does not know is null, and what a list is of that it does not know is named', async () => {
  await using explorer = await startInstance();
  await using asking = startAsking();
  const { client } = asking;
  const chain = explorer.chain();
  const nobody = hashOf('nobody');
  const one = client.one(chain, OPERATIONS.transaction, { hash: nobody }, client.lookup('one'));
  expect(await asking.until(one)).toBeNull();
  const pending = client.one(
    chain,
    OPERATIONS.transaction,
    { hash: hashOf('pending', 0) },
    client.lookup('one'),
  );
  expect(await asking.until(pending)).toBeNull();
  const logs = client.list(chain, OPERATIONS.transactionLogs, { hash: nobody }, null, client.lookup('one'));
  expect(await faultOf(asking.until(logs))).toEqual({ kind: 'notFound' });
});

test('an address is never unknown', async () => {
  await using explorer = await startInstance();
  await using asking = startAsking();
  const { client } = asking;
  explorer.plant({ status: 404, json: { message: 'Not found' } });
  const asked = client.one(explorer.chain(), OPERATIONS.address, { address: WALLET }, client.lookup('one'));
  expect(await faultOf(asking.until(asked))).toEqual({ kind: 'notFound' });
});

test('an explorer that is not there is named', async () => {
  const explorer = await startInstance();
  const chain = explorer.chain();
  await explorer[Symbol.asyncDispose]();
  await using asking = startAsking();
  expect(await faultOf(asking.until(askTransactions(asking.client, chain)))).toEqual({ kind: 'unreachable' });
});

test('an answer without end is not read', async () => {
  const { listener, sent } = endless();
  await using server = await serve(listener);
  await using asking = startAsking();
  const chain = { id: 1, baseUrl: `http://${server.host}/api/v2`, isHosted: false, headers: {} };
  expect(await faultOf(asking.until(askTransactions(asking.client, chain)))).toEqual({ kind: 'tooLarge' });
  expect(sent()).toBeLessThan(64 * 1024 * 1024);
});

describe('The route in the style of Etherscan', () => {
  const ask = async (fault: Fault) => {
    await using explorer = await startInstance();
    await using asking = startAsking();
    explorer.plant(fault);
    const list = LISTS.find(({ name }) => name === 'txlist') ?? LISTS[0];
    return await faultOf(asking.until(list.ask(asking.client, explorer.chain())));
  };

  test.each([
    ['a status', { status: '0', message: 'NOTOK', result: 'Error' }, { kind: 'failed', status: 200 }],
    ['an empty list', { status: '0', message: 'Query timed out', result: [] }, { kind: 'failed' }],
    [
      'too many requests',
      { status: '0', message: 'Too many requests, please try again', result: null },
      { kind: 'rateLimited', until: NOW + 60_000 },
    ],
    ['a text', { status: '1', message: 'OK', result: 'none' }, { kind: 'malformed' }],
    ['a status that is not known', { status: '2', message: 'OK', result: [] }, { kind: 'malformed' }],
    ['other JSON', { items: [] }, { kind: 'malformed' }],
  ])('fails by %s with HTTP 200', async (_, json, expected) => {
    expect(await ask({ json })).toMatchObject(expected);
  });
});

test('a lookup whose time is over, or which nobody waits for, asks nothing', async () => {
  await using explorer = await startInstance();
  await using asking = startAsking();
  const { client, clock } = asking;
  const late = client.lookup('one');
  clock.advance(10_000);
  const wanted = { address: WALLET };
  const asked = client.list(explorer.chain(), OPERATIONS.addressTransactions, wanted, null, late);
  expect(await faultOf(asking.until(asked))).toEqual({ kind: 'timeout' });
  const gone = client.lookup('one', AbortSignal.abort(new Error('gone')));
  const unwanted = client.list(explorer.chain(), OPERATIONS.addressTransactions, wanted, null, gone);
  await expect(asking.until(unwanted)).rejects.toThrow('gone');
  expect(explorer.requests).toEqual([]);
});
