import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { eventually } from '../support/clients/subscribe.ts';
import { codesOf, type Gateway, nowhere, startGateway } from '../support/gateway/start.ts';
import { addressOf } from '../support/upstream/builders.ts';
import type { Reply } from '../support/upstream/fake-service.ts';
import { type FakeWallets, startFakeWallets } from '../support/upstream/wallets.ts';

/** The service's own list of chains replaces the built-in one while it can be read. */

const HOUR_MS = 3_600_000;

const ALL = ['balances', 'transactions', 'activity', 'token_info', 'token_holders', 'collectibles'];

const listed = (chainId: number, name: string, { without = [] as string[], tags = ['mainnet'] } = {}) => ({
  name,
  chain_id: chainId,
  tags,
  ...Object.fromEntries(ALL.map((lookup) => [lookup, { supported: !without.includes(lookup) }])),
});

const NEW = listed(4_242_424_242, 'brand_new', {
  without: ['token_holders', 'collectibles', 'balances', 'activity', 'token_info'],
  tags: ['fresh'],
});
const CHAINS = [listed(1, 'ethereum', { tags: ['default', 'mainnet'] }), NEW];

let reply: Reply;
let fake: FakeWallets;
let clock = 0;
const started: Gateway[] = [];
beforeEach(async () => {
  reply = { json: { chains: CHAINS }, headers: { 'x-compute-units-cost': '0' } };
  fake = await startFakeWallets();
  fake.script.chains = () => reply;
  clock = 0;
});
afterEach(async () => {
  for (const gateway of started.splice(0)) await gateway[Symbol.asyncDispose]();
  await fake[Symbol.asyncDispose]();
});

const start = async (env = {}): Promise<Gateway> => {
  const now = () => performance.now() + clock;
  const gateway = await startGateway({ UPSTREAM_URL: fake.url, ...env }, { readsChains: true, now });
  started.push(gateway);
  return gateway;
};

type Chain = { chainId: number; name: string; supports: string[] | null };

const chainsOf = async (gateway: Gateway) =>
  (await gateway.data<{ chains: Chain[] }>('{ chains { chainId name supports } }')).chains;

const namesOf = async (gateway: Gateway) => (await chainsOf(gateway)).map(({ name }) => name);

const reads = () => fake.requests.filter(({ path }) => path === '/v1/evm/supported-chains');

const untilListed = (gateway: Gateway, names = ['ethereum', 'brand_new']) =>
  vi.waitFor(async () => expect(await namesOf(gateway)).toEqual(names), 60_000);

test('a chain that the service adds works without a setting, and one that it drops is refused', async () => {
  const gateway = await start();
  await untilListed(gateway);
  const { chain, wallet } = await gateway.data<{ chain: object; wallet: object }>(`{
    chain(chainId: ${NEW.chain_id}) { name tags supports nativeToken { id chain chainInfo { name } } }
    wallet(address: "${addressOf(1)}") { transactions(chainIds: [${NEW.chain_id}], chainTags: ["fresh"]) { nodes { hash } } }
  }`);
  expect(chain).toEqual({
    name: 'brand_new',
    tags: ['fresh'],
    supports: ['TRANSACTIONS'],
    nativeToken: {
      id: btoa(`Token:${NEW.chain_id}:native`),
      chain: 'brand_new',
      chainInfo: { name: 'brand_new' },
    },
  });
  expect(wallet).toEqual({ transactions: { nodes: [] } });
  const dropped = await gateway.query(
    `{ chain(chainId: 10) { name } wallet(address: "${addressOf(1)}") { transactions(chainIds: [10]) { nodes { hash } } } }`,
  );
  expect([dropped.data, codesOf(dropped)]).toEqual([
    { chain: null, wallet: { transactions: null } },
    ['BAD_USER_INPUT'],
  ]);
});

test('the list is read once, without the key, and billed to nobody', async () => {
  const gateway = await start();
  await untilListed(gateway);
  const { extensions } = await gateway.query('{ chains { name } }');
  expect(extensions.upstream).toEqual({ requests: 0, computeUnits: 0, cached: 0 });
  expect(reads()).toHaveLength(1);
  expect(JSON.stringify(reads()[0]?.headers)).not.toContain('held-by-the-gateway');
});

test('a chain that a lookup does not support is refused by name, before it is billed', async () => {
  const gateway = await start();
  await untilListed(gateway);
  const answer = await gateway.query<{ wallet: object; token: object; node: object | null }>(`{
    wallet(address: "${addressOf(1)}") {
      collectibles(chainIds: [1, ${NEW.chain_id}]) { nodes { name } }
      balances(chainIds: [${NEW.chain_id}]) { nodes { amount } }
      balance(token: { nativeOf: ${NEW.chain_id} }) { amount }
      portfolio(chainIds: [${NEW.chain_id}]) { totalUsd }
      activity(chainIds: [${NEW.chain_id}]) { nodes { type } }
      defiPositions(chainIds: [${NEW.chain_id}]) { nodes { type } }
    }
    token(token: { contract: { chainId: ${NEW.chain_id}, address: "${addressOf(2)}" } }) {
      holders { nodes { balance } }
      market { priceUsd }
    }
    node(id: "${btoa(`Balance:${addressOf(1)}:${NEW.chain_id}:native`)}") { id }
  }`);
  const [wallet, token] = [Object.values(answer.data?.wallet ?? {}), answer.data?.token];
  expect(wallet).toEqual([null, null, null, null, null, null]);
  expect([token, answer.data?.node]).toEqual([{ holders: null, market: null }, null]);
  expect(new Set(codesOf(answer))).toEqual(new Set(['BAD_USER_INPUT']));
  expect(answer.errors?.map(({ message }) => message).toSorted()).toEqual(
    [
      ...['ACTIVITY', 'BALANCES', 'BALANCES', 'BALANCES', 'BALANCES', 'COLLECTIBLES', 'DEFI_POSITIONS'],
      ...['TOKEN_HOLDERS', 'TOKEN_INFO'],
    ].map((lookup) => expect.stringMatching(new RegExp(`${lookup}, .*4242424242 \\(brand_new\\)`))),
  );
  expect(fake.requests.filter((request) => !reads().includes(request))).toEqual([]);
});

test('it is fresh for an hour and stands in for a failed one for a day, after which the built-in one does', async () => {
  const gateway = await start();
  await untilListed(gateway);
  clock = HOUR_MS - 60_000;
  await namesOf(gateway);
  expect(reads()).toHaveLength(1);
  reply = { json: { chains: [...CHAINS, listed(77, 'later')] } };
  clock = HOUR_MS + 60_000;
  await untilListed(gateway, ['ethereum', 'later', 'brand_new']);
  expect(reads()).toHaveLength(2);
  reply = { status: 500, text: 'Internal server error' };
  clock += 23 * HOUR_MS;
  expect(await namesOf(gateway)).toContain('later');
  clock += HOUR_MS;
  expect(await namesOf(gateway)).not.toContain('later');
  expect(await namesOf(gateway)).toContain('base');
  // It is tried again, though not for each operation.
  reply = { json: { chains: CHAINS } };
  clock += 60_000;
  await untilListed(gateway);
});

test('EXTRA_CHAINS still names chains and adds others', async () => {
  const gateway = await start({ EXTRA_CHAINS: `${NEW.chain_id}:renamed,5:mine` });
  await untilListed(gateway, ['ethereum', 'mine', 'renamed']);
  const chains = await chainsOf(gateway);
  expect(chains.map(({ supports }) => supports?.length ?? null)).toEqual([6, null, 1]);
});

test('what is no chain is left out', async () => {
  reply = { json: { chains: [7, null, { name: 'nameless id' }, { chain_id: 3 }, ...CHAINS] } };
  await untilListed(await start());
});

test('the other documented shape says nothing of support, so every lookup is tried', async () => {
  reply = {
    json: {
      chains: [
        { name: 'ethereum', id: 1, tags: ['default'] },
        { name: 'brand_new', id: 99 },
      ],
    },
  };
  const gateway = await start();
  await untilListed(gateway);
  expect((await chainsOf(gateway)).map(({ supports }) => supports)).toEqual([null, null]);
});

describe('what the service says of its index', () => {
  const FOLLOWED = {
    head: 41,
    headTime: '2026-11-24T03:30:00Z',
    indexedFrom: 0,
    indexedTo: 39,
    behind: 2,
  };
  type Index = Record<'head' | 'headTime' | 'from' | 'to' | 'behind' | 'problem', string | null> | null;

  const indexesOf = async (gateway: Gateway) => {
    const { data, errors, extensions } = await gateway.query<{ chains: { name: string; index: Index }[] }>(
      '{ chains { name index { head headTime from to behind problem } } }',
    );
    expect([errors, extensions.upstream.computeUnits]).toEqual([undefined, 0]);
    return Object.fromEntries((data?.chains ?? []).map(({ name, index }) => [name, index]));
  };
  const indexed = (index: unknown): void => {
    reply = { json: { chains: [{ ...listed(1, 'ethereum'), index }, NEW] } };
  };

  test('is shown for each chain whose service states it, and asked for without the key', async () => {
    indexed(FOLLOWED);
    const gateway = await start();
    await untilListed(gateway);
    expect(await indexesOf(gateway)).toEqual({
      ethereum: {
        head: '41',
        headTime: '2026-11-24T03:30:00.000Z',
        from: '0',
        to: '39',
        behind: '2',
        problem: null,
      },
      brand_new: null,
    });
    expect(JSON.stringify(reads().at(-1)?.headers)).not.toContain('held-by-the-gateway');
  });

  test('is read again when it is asked for, at most every two seconds and once for all who ask', async () => {
    indexed(FOLLOWED);
    const gateway = await start();
    await untilListed(gateway);
    await Promise.all(Array.from({ length: 5 }, () => indexesOf(gateway)));
    expect(reads()).toHaveLength(1);
    indexed({ ...FOLLOWED, head: 42 });
    clock += 2_000;
    const asked = await Promise.all(Array.from({ length: 5 }, () => indexesOf(gateway)));
    expect(asked.map(({ ethereum }) => ethereum?.head)).toEqual(Array(5).fill('42'));
    expect(reads()).toHaveLength(2);
    // Other fields do not need it.
    clock += 60_000;
    await namesOf(gateway);
    expect(reads()).toHaveLength(2);
  });

  test('is none without a block: what the service supports is not known then, so it is asked', async () => {
    const without = listed(1, 'ethereum', { without: ['token_holders'] });
    const say = (index: object) => {
      reply = { json: { chains: [{ ...without, index }, NEW] } };
    };
    const holders = `{ token(token: { contract: { chainId: 1, address: "0x${'1'.repeat(40)}" } }) { holders { nodes { balance } } } }`;
    const refusal = async (gateway: Gateway) =>
      (await gateway.query(holders)).errors?.[0]?.message.split(' for ')[0];
    say({ ...FOLLOWED, indexedFrom: null, indexedTo: null });
    const gateway = await start();
    await untilListed(gateway);
    expect(await refusal(gateway)).toBeUndefined();
    say(FOLLOWED);
    clock += 2_000;
    await indexesOf(gateway);
    expect(await refusal(gateway)).toBe('Expected chains that the service supports');
  });

  test('is null while the service cannot be asked, and the chains stay', async () => {
    indexed(FOLLOWED);
    const gateway = await start();
    await untilListed(gateway);
    reply = { status: 400, text: 'not now' };
    clock += 2_000;
    expect(await indexesOf(gateway)).toEqual({ ethereum: null, brand_new: null });
    indexed(FOLLOWED);
    expect((await indexesOf(gateway)).ethereum?.head).toBe('41');
  });

  test.each<[what: string, index: unknown, told: Partial<NonNullable<Index>> | null]>([
    ['a problem alone', { problem: 'the node is another chain' }, { problem: 'the node is another chain' }],
    [
      'members of other types',
      { ...FOLLOWED, head: 'x', headTime: 7, indexedFrom: {} },
      { to: '39', behind: '2' },
    ],
    ['nothing that is known', { more: 1 }, {}],
    ['no object', 41, null],
  ])('is read tolerantly: %s', async (_what, index, told) => {
    indexed(index);
    const gateway = await start();
    await untilListed(gateway);
    const unsaid = { head: null, headTime: null, from: null, to: null, behind: null, problem: null };
    expect((await indexesOf(gateway)).ethereum).toEqual(told && { ...unsaid, ...told });
  });

  test('is null for a hosted service, which is not asked for it again', async () => {
    const gateway = await start();
    await untilListed(gateway);
    for (const _time of [1, 2, 3]) {
      clock += 60_000;
      expect(await indexesOf(gateway)).toEqual({ ethereum: null, brand_new: null });
    }
    expect(reads()).toHaveLength(1);
  });
});

describe('the built-in list serves where the service has none', () => {
  test.each<[what: string, Reply]>([
    ['404', { status: 404, text: 'Not found' }],
    ['an empty list', { json: { chains: [] } }],
    ['no JSON', { text: '<html>' }],
  ])('%s', async (_what, answer) => {
    reply = answer;
    const gateway = await start();
    await eventually(() => reads().length > 0);
    const chains = await chainsOf(gateway);
    expect(chains.length).toBeGreaterThan(20);
    expect(chains.every(({ supports }) => supports === null)).toBe(true);
  });

  test('a service that is not there', async () => {
    expect(await namesOf(await start({ UPSTREAM_URL: nowhere }))).toContain('ethereum');
  });
});

test("the sandbox's own list is the gateway's", async () => {
  await using gateway = await startGateway({}, { readsChains: true });
  await vi.waitFor(async () => expect((await chainsOf(gateway))[0]?.supports).not.toBeNull(), 60_000);
  const chains = await chainsOf(gateway);
  expect(chains.find(({ chainId }) => chainId === 1)?.supports).toHaveLength(11);
});
