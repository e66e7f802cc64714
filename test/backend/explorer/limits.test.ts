import { describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../../src/backend/explorer/client/operations.ts';
import { madeUp } from '../../support/blockscout/made-up.ts';
import { type SeenRequest, startBlockscout } from '../../support/blockscout/server.ts';
import { address } from '../indexer/support/blocks.ts';
import { askTransactions, faultOf, KEY, startAsking } from './support/asking.ts';

const contents = madeUp();

/** The hosted API with two chains, on the clock of a client. */
const start = async (limits: { readonly credits?: number; readonly perSecond?: number } = {}) => {
  const asking = startAsking();
  const explorer = await startBlockscout({
    chains: [1, 10].map((id) => ({ id, contents })),
    hosted: { key: KEY, ...limits },
    now: asking.clock.now,
  });
  const { client } = asking;
  /** Each name is another address, and so another request. */
  const ask = (name: string, asker = name, chain = explorer.chain(1)) =>
    client.one(chain, OPERATIONS.address, { address: address(name) }, client.lookup(asker));
  return {
    ...{ explorer, client, clock: asking.clock, until: asking.until, ask },
    async [Symbol.asyncDispose]() {
      await asking[Symbol.asyncDispose]();
      await explorer[Symbol.asyncDispose]();
    },
  };
};

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `account ${at}`);

/** The most requests that came within a second. */
const mostInASecond = (requests: readonly SeenRequest[]): number =>
  Math.max(
    ...requests.map(({ at }) => requests.filter((other) => other.at >= at && other.at < at + 1000).length),
  );

describe('The queue of a host', () => {
  test.each([5, 15])('stays below %i requests a second, over all chains and callers', async (perSecond) => {
    await using world = await start({ perSecond });
    const { explorer, until, ask } = world;
    // Answers tell the rate of the plan.
    await until(ask('first'));
    const asked = names(30).map((name, at) => ask(name, name, explorer.chain(at % 2 === 0 ? 1 : 10)));
    await until(Promise.all(asked));
    expect(mostInASecond(explorer.requests)).toBeLessThanOrEqual(perSecond);
    for (const id of [1, 10]) {
      const ofChain = explorer.requests.filter(({ chainId }) => chainId === id);
      expect(Math.max(...ofChain.map(({ concurrency }) => concurrency))).toBeLessThanOrEqual(4);
    }
    const took = (explorer.requests.at(-1)?.at ?? 0) - (explorer.requests[0]?.at ?? 0);
    expect(took).toBeLessThan((30 / perSecond) * 1_200);
  });

  test('is fair: who asks for little does not wait for who asks for much', async () => {
    await using world = await start();
    const { explorer, until, ask } = world;
    const many = names(30).map((name) => ask(name, 'greedy'));
    const few = [ask('little', 'modest'), ask('less', 'other')];
    await until(Promise.all([...many, ...few]));
    const placeOf = (name: string) => explorer.requests.findIndex(({ path }) => path.includes(address(name)));
    expect(placeOf('little')).toBeLessThan(7);
    expect(placeOf('less')).toBeLessThan(8);
  });

  test('begins what nobody waits for last, unless somebody comes to wait for it', async () => {
    await using world = await start();
    const { explorer, client, until, ask } = world;
    const spent: number[] = [];
    const spend = (credits: number) => void spent.push(credits);
    const inBackground = (name: string) =>
      client.one(
        explorer.chain(1),
        OPERATIONS.address,
        { address: address(name) },
        client.lookup(name, null, { background: { spend } }),
      );
    const watched = names(12).map(inBackground);
    const wanted = ['some', 'more', 'account 11'].map((name) => ask(name));
    await until(Promise.all([...watched, ...wanted]));
    const placeOf = (name: string) => explorer.requests.findIndex(({ path }) => path.includes(address(name)));
    // The first few had begun before.
    for (const name of ['some', 'more', 'account 11']) expect(placeOf(name)).toBeLessThan(8);
    expect(placeOf('account 10')).toBeGreaterThan(10);
    expect(explorer.requests).toHaveLength(14);
    expect(spent).toEqual(Array(12).fill(OPERATIONS.address.credits));
  });

  test('is fair between the wallets of a client as well', async () => {
    await using world = await start();
    const { explorer, client, until, ask } = world;
    const lookUp = (name: string, subject: string) =>
      client.one(
        explorer.chain(1),
        OPERATIONS.address,
        { address: address(name) },
        client.lookup(subject, null, { client: 'one' }),
      );
    const many = names(30).map((name) => lookUp(name, 'busy'));
    await until(Promise.all([...many, lookUp('calm', 'calm'), ask('other', 'other')]));
    const placeOf = (name: string) => explorer.requests.findIndex(({ path }) => path.includes(address(name)));
    expect(placeOf('calm')).toBeLessThan(8);
    expect(placeOf('other')).toBeLessThan(8);
  });

  test('has room for other chains, and other clients, while one waits for its explorer', async () => {
    await using world = await start({ perSecond: 50 });
    const { explorer, until, ask } = world;
    await until(ask('first'));
    const slow = names(10);
    explorer.plant({ isSilent: true }, ({ path }) => slow.some((name) => path.includes(address(name))));
    const never = Promise.allSettled(slow.map((name) => ask(name, 'one')));
    await expect.poll(() => explorer.requests.length).toBe(4);
    expect(await ask('other', 'other')).not.toBeNull();
    expect(await ask('elsewhere', 'one', explorer.chain(10))).not.toBeNull();
    expect(explorer.requests).toHaveLength(6);
    world.clock.advance(10_000);
    for (const each of await never) expect(each).toMatchObject({ reason: { fault: { kind: 'timeout' } } });
  });

  test('gives up those whose time is over, and only those', async () => {
    await using world = await start();
    const { until, ask } = world;
    const asked = names(80).map((name) => ask(name, 'one'));
    const ended = await until(Promise.allSettled(asked));
    const rejected = ended.filter((each) => each.status === 'rejected');
    expect(rejected.length).toBeGreaterThan(20);
    expect(rejected.length).toBeLessThan(45);
    for (const { reason } of rejected) expect(reason).toMatchObject({ fault: { kind: 'timeout' } });
  });

  test('waits for the next second of the explorer when others have used up this one', async () => {
    await using world = await start();
    const { explorer, until, ask, clock } = world;
    explorer.plant({ headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '700' } }, () => true, 1);
    await until(ask('one'));
    const before = clock.now();
    await until(ask('two'));
    expect(clock.now() - before).toBe(700);
  });

  test('of an instance is not that of the route in the style of Etherscan', async () => {
    await using asking = startAsking();
    await using explorer = await startBlockscout({ chains: [{ id: 1, contents }] });
    const { client } = asking;
    explorer.plant(
      { json: { status: '0', message: 'Too many requests', result: null } },
      ({ path }) => path === '',
    );
    const lookup = client.lookup('one');
    const wanted = { address: address('one'), pageSize: 10 };
    const list = client.list(explorer.chain(), OPERATIONS.txlist, wanted, null, lookup);
    expect(await faultOf(asking.until(list))).toMatchObject({ kind: 'rateLimited' });
    expect(await asking.until(askTransactions(client, explorer.chain()))).toMatchObject({ next: null });
  });
});

describe('Too many requests', () => {
  const limited = { status: 429, json: { message: 'Too many requests. Please try again later.' } };

  test('begin a pause of an instance, which doubles until one is answered', async () => {
    await using asking = startAsking();
    await using explorer = await startBlockscout({ chains: [{ id: 1, contents }] });
    const { client, clock } = asking;
    const ask = () => asking.until(askTransactions(client, explorer.chain()));
    await ask();
    for (const pauseMs of [60_000, 120_000, 240_000]) {
      explorer.plant(limited, () => true, 1);
      const until = clock.now() + pauseMs;
      expect(await faultOf(ask())).toEqual({ kind: 'rateLimited', until });
      const { length } = explorer.requests;
      clock.advance(pauseMs - 10_001);
      expect(await faultOf(ask())).toEqual({ kind: 'rateLimited', until });
      expect(explorer.requests).toHaveLength(length);
      clock.advance(10_001);
    }
    await ask();
    explorer.plant(limited, () => true, 1);
    expect(await faultOf(ask())).toEqual({ kind: 'rateLimited', until: clock.now() + 60_000 });
  });

  test('of several requests at a time are one pause', async () => {
    await using asking = startAsking();
    await using explorer = await startBlockscout({ chains: [{ id: 1, contents }] });
    const { client, clock } = asking;
    explorer.plant(limited);
    const asked = names(12).map((name) =>
      client.one(explorer.chain(), OPERATIONS.address, { address: address(name) }, client.lookup(name)),
    );
    const ended = await asking.until(Promise.allSettled(asked));
    const until = clock.now() + 60_000;
    for (const each of ended)
      expect(each).toMatchObject({ status: 'rejected', reason: { fault: { kind: 'rateLimited', until } } });
    expect(explorer.requests.length).toBeLessThanOrEqual(4);
  });

  test('of the hosted API are waited for by those that have the time, as long as it says', async () => {
    await using world = await start();
    const { explorer, until, ask, clock } = world;
    explorer.plant({ ...limited, headers: { 'x-ratelimit-reset': '1441' } }, () => true, 1);
    expect(await faultOf(until(ask('one')))).toEqual({ kind: 'rateLimited', until: clock.now() + 1_441 });
    const before = clock.now();
    expect(await until(ask('two'))).not.toBeNull();
    expect(clock.now() - before).toBe(1_441);
  });
});

describe('Credits', () => {
  const MIDNIGHT = Date.UTC(2026, 10, 28, 0, 1);
  const OUT = { kind: 'outOfCredits', until: MIDNIGHT };

  test('are not overdrawn: what would cost more than is left is not asked for until midnight', async () => {
    await using world = await start({ credits: 110 });
    const { explorer, client, until, ask, clock } = world;
    for (const name of names(5)) await until(ask(name));
    expect(client.state()).toMatchObject([
      { creditsLeft: 10, spent: new Map([['address', { requests: 5, credits: 100 }]]) },
    ]);
    expect(await faultOf(until(ask('sixth')))).toEqual(OUT);
    // The account is of all chains.
    expect(await faultOf(until(ask('sixth', 'one', explorer.chain(10))))).toEqual(OUT);
    expect(client.state()).toMatchObject([{ pause: { until: MIDNIGHT, fault: OUT } }]);
    clock.advance(MIDNIGHT - clock.now() - 10_001);
    expect(await faultOf(until(ask('sixth')))).toEqual(OUT);
    expect(explorer.requests).toHaveLength(5);
    clock.advance(10_001);
    expect(await until(ask('sixth'))).not.toBeNull();
    expect(client.state()).toMatchObject([{ creditsLeft: 90, pause: null }]);
  });

  test('that were left yesterday are not those of today', async () => {
    await using world = await start({ credits: 110 });
    const { client, until, ask, clock } = world;
    for (const name of names(5)) await until(ask(name));
    expect(client.state()).toMatchObject([{ creditsLeft: 10 }]);
    clock.advance(86_400_000);
    expect(client.state()).toMatchObject([{ creditsLeft: null }]);
    expect(await until(ask('sixth'))).not.toBeNull();
  });

  test('that are used up elsewhere end requests until midnight as well', async () => {
    await using world = await start({ credits: 0 });
    const { explorer, until, ask } = world;
    expect(await faultOf(until(ask('one')))).toEqual(OUT);
    expect(await faultOf(until(ask('two')))).toEqual(OUT);
    expect(explorer.requests).toHaveLength(1);
  });

  test('of requests under way count', async () => {
    await using world = await start({ credits: 70 });
    const { explorer, until, ask } = world;
    await until(ask('first'));
    const ended = await until(Promise.allSettled(names(4).map((name) => ask(name))));
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
    expect(explorer.requests).toHaveLength(3);
  });
});

describe('Equal requests at a time', () => {
  test('are one, whoever asks', async () => {
    await using world = await start();
    const { explorer, until, ask } = world;
    const answers = await until(Promise.all(names(20).map((asker) => ask('same', asker))));
    expect(new Set(answers.map((answer) => answer?.hash))).toEqual(new Set([address('same')]));
    expect(explorer.requests).toHaveLength(1);
    await until(ask('same'));
    expect(explorer.requests).toHaveLength(2);
  });

  test('of two chains are two', async () => {
    await using world = await start();
    const { explorer, until, ask } = world;
    await until(Promise.all([ask('same'), ask('same', 'one', explorer.chain(10))]));
    expect(explorer.requests).toHaveLength(2);
  });

  test('go on for those who still wait, and end with the last', async () => {
    await using world = await start();
    const { explorer, client, until, clock } = world;
    const answered = Promise.withResolvers<void>();
    explorer.plant({ after: answered.promise });
    const leaving = new AbortController();
    const ask = (signal: AbortSignal | null) =>
      client.one(explorer.chain(), OPERATIONS.stats, {}, client.lookup('one', signal));
    const gone = ask(leaving.signal);
    const staying = ask(null);
    await expect.poll(() => explorer.requests.length).toBe(1);
    leaving.abort(new Error('gone'));
    await expect(gone).rejects.toThrow('gone');
    answered.resolve();
    expect(await until(staying)).toMatchObject({ coin_price: 3000.5 });
    expect(explorer.requests).toHaveLength(1);

    explorer.mend();
    explorer.plant({ isSilent: true });
    const silent = ask(null);
    await expect.poll(() => explorer.requests.length).toBe(2);
    clock.advance(10_000);
    expect(await faultOf(silent)).toEqual({ kind: 'timeout' });
    await expect.poll(() => client.state()).toMatchObject([{ running: 0, waiting: 0 }]);
  });

  test('do not wait for one that never ends', async () => {
    await using world = await start();
    const { explorer, client, clock } = world;
    explorer.plant({ isSilent: true }, () => true, 1);
    const ask = () => client.one(explorer.chain(), OPERATIONS.stats, {}, client.lookup('one'));
    const first = ask();
    await expect.poll(() => explorer.requests.length).toBe(1);
    clock.advance(6_000);
    const second = ask();
    clock.advance(4_000);
    expect(await faultOf(first)).toEqual({ kind: 'timeout' });
    expect(await faultOf(second)).toEqual({ kind: 'timeout' });
    expect(await world.until(ask())).toMatchObject({ coin_price: 3000.5 });
  });
});
