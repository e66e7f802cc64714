import { describe, expect, test } from 'vitest';
import { keysOf, pageAt, walk } from '../../support/clients/walk.ts';
import { codesOf, startGateway } from '../../support/gateway/start.ts';
import { freshAddress } from '../../support/upstream/builders.ts';
import { withoutCache } from '../../support/upstream/cache-configs.ts';
import type { Answer } from '../../support/upstream/fake-service.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';
import { envelope, type Listed, LOOKUPS_BY_TIME, nameOf } from './support/timed-items.ts';

/*
 * A time does not tell items apart if several have it: items of several chains, or of a chain with several blocks a second.
 * So it does not show which of them a walk has returned, when the item of its cursor is gone.
 */

/** Serves what the list is at the moment, in pages of 100. */
const servingNow =
  (list: () => readonly Listed[]): Answer =>
  ({ query }) => {
    const start = Number(query.get('offset') ?? 0);
    const items = list().toSorted((one, other) => other.time - one.time);
    const next = start + 100 < items.length ? String(start + 100) : null;
    return { json: envelope(items.slice(start, start + 100), next) };
  };

describe.each(LOOKUPS_BY_TIME)('of $name', (lookup) => {
  const start = async () => {
    await using made = new AsyncDisposableStack();
    const fake = made.use(await startFakeWallets());
    const gateway = made.use(await startGateway({ UPSTREAM_URL: fake.url, ...withoutCache.env }));
    const running = made.move();
    const answer = (script: Answer) => {
      const address = freshAddress();
      fake.scriptsOf(lookup).set(address, script);
      return address;
    };
    return { fake, gateway, answer, [Symbol.asyncDispose]: () => running.disposeAsync() };
  };
  const namesAfter = async (gateway: Parameters<typeof pageAt>[0], address: string, after: string | null) =>
    keysOf([await pageAt(gateway, lookup.name, address, 1000, after)]).map(nameOf);

  const T = 50;
  const first: Listed = { name: 'first', time: T, chain: 0 };
  const five: Listed[] = ['b1', 'b2', 'b3', 'b4', 'b5'].map((name) => ({ name, time: T, chain: 1 }));
  const older: Listed = { name: 'older', time: 1, chain: 1 };

  test.each<[string, (list: Listed[]) => Listed[]]>([
    ['is gone', (list) => list.slice(1)],
    ['has a newer time', (list) => [{ ...first, time: T + 1 }, ...list.slice(1)]],
    ['has an older time', (list) => [...list.slice(1), { ...first, time: T - 1 }]],
    ['is the last one in the list', (list) => [...list.slice(1), { ...first, time: 0 }]],
    ['is behind the others of its second', (list) => [...list.slice(1), first]],
    ['is gone, and an item of its second is new', (list) => [{ ...first, name: 'new' }, ...list.slice(1)]],
    ['is gone, with the next one', (list) => list.slice(2)],
    ['is gone, with all of its second', (list) => list.slice(-1)],
  ])('where the first of six at one time %s, the others follow it', async (_what, change) => {
    await using started = await start();
    const { gateway, answer } = started;
    let list = [first, ...five, older];
    const address = answer(servingNow(() => list));
    const { pageInfo } = await pageAt(gateway, lookup.name, address, 1);
    list = change(list);
    const staying = list.filter((item) => item === older || five.includes(item));
    const names = await namesAfter(gateway, address, pageInfo.endCursor);
    expect(names.filter((name) => name !== 'first' && name !== 'new')).toEqual(
      staying.map(({ name }) => name),
    );
  });

  test('of 300 items in one second, none is lost when the item of a cursor is gone', async () => {
    await using started = await start();
    const { gateway, answer } = started;
    for (const place of [0, 1, 40, 99, 100, 298]) {
      let list = Array.from({ length: 300 }, (_, index) => ({
        name: `t${index}`,
        time: T,
        chain: index % 2,
      }));
      const names = list.map(({ name }) => name);
      const address = answer(servingNow(() => list));
      const { pageInfo } = await pageAt(gateway, lookup.name, address, place + 1);
      list = list.toSpliced(place, 1);
      expect(await namesAfter(gateway, address, pageInfo.endCursor)).toEqual(names.slice(place + 1));
    }
  });

  test('where nothing shows the place among items of one time, it is CURSOR_EXPIRED', async () => {
    await using started = await start();
    const { gateway, answer } = started;
    let list = Array.from({ length: 90 }, (_, index) => ({ name: `t${index}`, time: T, chain: 0 }));
    const address = answer(servingNow(() => list));
    const { pageInfo } = await pageAt(gateway, lookup.name, address, 45);
    list = [...list.slice(0, 20), ...list.slice(70)];
    const reply = await gateway.query(
      `query ($address: Address!, $after: String) {
        wallet(address: $address) { ${lookup.name}(first: 9, after: $after) { pageInfo { endCursor } } }
      }`,
      { address, after: pageInfo.endCursor },
    );
    expect(codesOf(reply)).toEqual(['CURSOR_EXPIRED']);
    expect(reply.errors?.[0]?.extensions).toMatchObject({ reason: 'moved' });
  });

  test('where the list has become shorter than the offset of its page, what has moved up is not lost', async () => {
    await using started = await start();
    const { gateway, answer } = started;
    let list = Array.from({ length: 150 }, (_, index) => ({
      name: `t${index}`,
      time: 999 - index,
      chain: 0,
    }));
    const names = list.map(({ name }) => name);
    const address = answer(servingNow(() => list));
    const { pageInfo } = await pageAt(gateway, lookup.name, address, 111);
    list = list.filter((_, index) => index >= 60 && index !== 110);
    expect(await namesAfter(gateway, address, pageInfo.endCursor)).toEqual(names.slice(111));
  });

  test.each([
    ['behind it is left to come', [first, null, older], [null, 'older']],
    ['before it was returned', [null, first, older], ['older']],
  ])(
    "where the item of a cursor is gone, one that can't be parsed and was %s",
    async (_what, items, rest) => {
      await using started = await start();
      const { gateway, answer } = started;
      let list: readonly (Listed | null)[] = items;
      const address = answer(() => {
        const named = list.map((item) => item ?? { ...older, name: 'broken' });
        const page = envelope(named, null);
        const broken = named.findIndex(({ name }) => name === 'broken');
        const listed = page[lookup.name] as Record<string, unknown>[];
        Object.assign(listed[broken] ?? {}, { block_time: 'yesterday' });
        return { json: page };
      });
      const { pageInfo } = await pageAt(gateway, lookup.name, address, items.indexOf(first) + 1);
      list = items.filter((item) => item !== first);
      const { edges } = await pageAt(gateway, lookup.name, address, 9, pageInfo.endCursor);
      expect(edges.map((edge) => edge && nameOf(edge.node?.key ?? null))).toEqual(rest);
    },
  );

  test('a service whose items are in no order of time loses none', async () => {
    await using started = await start();
    const { gateway, answer } = started;
    for (const first of [7, 100, 150, 1000]) {
      const list = Array.from({ length: 300 }, (_, index) => ({
        name: `t${index}`,
        time: (index * 7919) % 101,
        chain: index % 2,
      }));
      const pages: Answer = ({ query }) => {
        const at = Number(query.get('offset') ?? 0);
        return { json: envelope(list.slice(at, at + 100), at + 100 < 300 ? String(at + 100) : null) };
      };
      const returned = await walk(gateway, lookup.name, answer(pages), first);
      expect(keysOf(returned).map(nameOf)).toEqual(list.map(({ name }) => name));
    }
  });
});
