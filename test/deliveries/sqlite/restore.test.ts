import { cp } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { deliver } from '../../support/clients/deliver.ts';
import { listenToEvents } from '../../support/clients/event-stream.ts';
import { type Edge, eventually, subscribe } from '../../support/clients/subscribe.ts';
import { codesOf, type Gateway, nowhere, startGateway } from '../../support/gateway/start.ts';
import {
  appendNumbers,
  numberOf,
  openLog,
  range,
  readAll,
  TENANT,
  temporaryDirectory,
} from '../support/builders.ts';
import { changeFile } from '../support/stored.ts';

/** A cursor identifies its delivery: it does not resume in a restored copy that has another delivery at its number. */

const ALL = 'subscription ($after: String) { deliveries(after: $after) { cursor node { id payload } } }';

const PAGE = `query ($after: String, $before: String, $last: Int) {
  deliveries(after: $after, before: $before, last: $last) { head edges { cursor node { id payload } } }
}`;

type Page = { deliveries: { head: string; edges: Edge[] } };

const start = (dataDir: string) => startGateway({ UPSTREAM_URL: nowhere, DATA_DIR: dataDir });

const post = async (gateway: Gateway, numbers: readonly number[]): Promise<void> => {
  const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
  for (const number of numbers) expect(await deliver(deliveryUrl, { body: { number } })).toBe(200);
};

const numbersIn = (edges: readonly Edge[]): unknown[] =>
  edges.map(({ node }) => (node.payload as { number: number }).number);

/** The edges after `after` that clients get by WebSocket, by event stream and by query. */
const edgesOf = async (gateway: Gateway, after: string, count: number): Promise<Edge[][]> => {
  await using dashboard = subscribe(gateway.url, { after, query: ALL });
  await eventually(() => dashboard.edges.length === count);
  using stream = await listenToEvents(gateway.url, ALL, { 'last-event-id': after });
  const streamed = () =>
    [...stream.text().matchAll(/id: (.*)\nevent: next\ndata: (.*)\n\n/g)].map(([, id = '', data = '']) => ({
      ...JSON.parse(data).data.deliveries,
      cursor: id,
    }));
  await eventually(() => streamed().length === count);
  const { deliveries } = await gateway.data<Page>(PAGE, { after });
  return [dashboard.edges, streamed(), deliveries.edges];
};

const expired = { code: 'CURSOR_EXPIRED', reason: 'replaced' };

describe('a folder that was copied, and restored after the log had grown', () => {
  /** Starts a gateway over the copy, and posts `grown` to it. Returns the edges of the lost deliveries, too. */
  const restored = async (lost: readonly number[], grown: readonly number[]) => {
    const dataDir = await temporaryDirectory();
    const copy = await temporaryDirectory();
    let before: Edge[] = [];
    {
      await using gateway = await start(dataDir);
      await post(gateway, range(1, 5));
      before = (await gateway.data<Page>(PAGE)).deliveries.edges;
      await gateway.stop();
      await cp(dataDir, copy, { recursive: true });
    }
    const last = before.at(-1)?.cursor ?? '';
    await using gone = await start(dataDir);
    await post(gone, lost);
    const [edges = [], ...same] = await edgesOf(gone, last, lost.length);
    expect(same).toEqual([edges, edges]);
    const { head } = (await gone.data<Page>(PAGE)).deliveries;
    expect(head).toBe(edges.at(-1)?.cursor);
    const gateway = await start(copy);
    await post(gateway, grown);
    return { gateway, before, edges };
  };

  test('a cursor of a lost delivery ends with CURSOR_EXPIRED, on every transport', async () => {
    const { gateway, edges } = await restored(range(6, 10), range(101, 140));
    await using _gateway = gateway;
    expect(edges).toHaveLength(5);
    for (const { cursor, node } of edges) {
      await using dashboard = subscribe(gateway.url, { after: cursor, query: ALL });
      await dashboard.ended;
      expect(dashboard.faults).toMatchObject([{ extensions: expired }]);
      for (const [document, headers] of [
        [ALL, { 'last-event-id': cursor }],
        [ALL.replaceAll('$after: String', '$after: String = "CURSOR"').replace('CURSOR', cursor), {}],
      ] as const) {
        using stream = await listenToEvents(gateway.url, document, headers);
        await stream.ended;
        expect(stream.text()).toContain('"code":"CURSOR_EXPIRED","reason":"replaced"');
        expect(stream.text()).not.toContain('id: ');
      }
      for (const variables of [{ after: cursor }, { before: cursor }, { before: cursor, last: 2 }]) {
        const { data, errors } = await gateway.query(PAGE, variables);
        expect(data).toEqual({ deliveries: null });
        expect(errors).toMatchObject([{ extensions: expired }]);
      }
      const { node: found } = await gateway.data<{ node: unknown }>(
        'query ($id: ID!) { node(id: $id) { id } }',
        { id: node.id },
      );
      expect(found).toBeNull();
    }
  });

  test('a cursor of a delivery before the copy resumes without a gap', async () => {
    const { gateway, before } = await restored(range(6, 10), range(101, 140));
    await using _gateway = gateway;
    for (const [index, { cursor, node }] of before.entries()) {
      const count = 5 - index - 1 + 40;
      await using dashboard = subscribe(gateway.url, { after: cursor, query: ALL });
      await eventually(() => dashboard.edges.length === count);
      expect(numbersIn(dashboard.edges)).toEqual([...range(index + 2, 5), ...range(101, 140)]);
      const { node: found } = await gateway.data<{ node: unknown }>(
        'query ($id: ID!) { node(id: $id) { ... on WebhookDelivery { id payload } } }',
        { id: node.id },
      );
      expect(found).toEqual(node);
    }
  });

  test('a cursor does not resume from its body stored again at its number, if the delivery before is another', async () => {
    // Upstream sends deliveries again that it believes were not stored. The first one was never sent before.
    const { gateway, edges } = await restored(range(6, 10), [101, 7, 8, 9, 10]);
    await using _gateway = gateway;
    for (const { cursor } of edges) {
      const answer = await gateway.query(PAGE, { after: cursor });
      expect(codesOf(answer)).toEqual(['CURSOR_EXPIRED']);
    }
  });
});

const expiry = (reason: string) => expect.objectContaining({ name: 'CursorExpiredError', reason });

test('cursors of an empty log, and of a log that keeps nothing, resume as long as they are valid', async () => {
  const dataDir = await temporaryDirectory();
  const log = await openLog({ dataDir });
  const empty = await log.head(TENANT);
  const [lost] = await appendNumbers(log, [1]);
  await log.close();
  changeFile(dataDir, 'DELETE FROM delivery; DELETE FROM tenant');

  let now = 1_000_000;
  const restored = await openLog({ dataDir, now: () => now });
  expect(await restored.head(TENANT)).toBe(empty);
  await expect(restored.read(TENANT, { after: lost, limit: 1 })).rejects.toEqual(expiry('ahead'));
  const [first, last] = await appendNumbers(restored, [2, 3]);
  expect((await readAll(restored, empty)).map(numberOf)).toEqual([2, 3]);
  await expect(restored.read(TENANT, { after: lost, limit: 1 })).rejects.toEqual(expiry('replaced'));
  now += 10 * 3_600_000;
  await restored.trim();
  // No delivery is kept, but the place of the last one is known.
  expect(await restored.head(TENANT)).toBe(last);
  const page = await restored.read(TENANT, { after: last, limit: 1 });
  expect(page).toMatchObject({ deliveries: [], hasMore: false, scannedTo: last, head: last });
  await expect(restored.read(TENANT, { after: first, limit: 1 })).rejects.toEqual(expiry('trimmed'));
});

test('the cursor of the last trimmed delivery resumes, that of another delivery at its number does not', async () => {
  const dataDir = await temporaryDirectory();
  const copy = await temporaryDirectory();
  const log = await openLog({ dataDir });
  await appendNumbers(log, range(1, 5));
  await log.close();
  await cp(dataDir, copy, { recursive: true });
  const gone = await openLog({ dataDir });
  const lost = await appendNumbers(gone, range(6, 10));

  const restored = await openLog({ dataDir: copy, retentionCount: 5 });
  const own = await appendNumbers(restored, range(101, 108));
  await restored.trim();
  // The numbers 9 to 13 are kept.
  expect((await readAll(restored, own[2])).map(numberOf)).toEqual(range(104, 108));
  await expect(restored.read(TENANT, { after: lost[2], limit: 1 })).rejects.toEqual(expiry('replaced'));
  await restored.close();
  const again = await openLog({ dataDir: copy, retentionCount: 5 });
  expect((await readAll(again, own[2])).map(numberOf)).toEqual(range(104, 108));
  await expect(again.read(TENANT, { after: lost[2], limit: 1 })).rejects.toEqual(expiry('replaced'));
  await expect(again.read(TENANT, { after: lost[1], limit: 1 })).rejects.toEqual(expiry('trimmed'));
});
