import { createHmac, hash } from 'node:crypto';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { deliver } from '../../support/clients/deliver.ts';
import { listenToEvents } from '../../support/clients/event-stream.ts';
import { type Edge, eventually, subscribe } from '../../support/clients/subscribe.ts';
import { codesOf, type Gateway, nowhere, startGateway } from '../../support/gateway/start.ts';
import {
  appendNumbers,
  delivery,
  numberOf,
  openLog,
  range,
  readAll,
  TENANT,
  temporaryDirectory,
} from '../support/builders.ts';

/** A cursor names its delivery: a log that was restored from a copy, and has grown since, is not gone on from by mistake. */

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

/** What clients hold of the deliveries after `after`, by WebSocket, event stream and query: each as the same edges. */
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

describe('a folder that was copied, and put in place again after the log had gone on', () => {
  /** A gateway over the copy, which has grown by `grown` since; with the cursors of what is lost. */
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

  test('ends with CURSOR_EXPIRED what would go on from a delivery that is lost, on every transport', async () => {
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

  test('goes on from a delivery of before the copy, with no gap', async () => {
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

  test('does not go on from what is stored again, at the same number, behind what never was seen', async () => {
    // The service sends again what it has not seen to be stored, of which the first was never sent before.
    const { gateway, edges } = await restored(range(6, 10), [101, 7, 8, 9, 10]);
    await using _gateway = gateway;
    for (const { cursor } of edges) {
      const answer = await gateway.query(PAGE, { after: cursor });
      expect(codesOf(answer)).toEqual(['CURSOR_EXPIRED']);
    }
  });
});

const expiry = (reason: string) => expect.objectContaining({ name: 'CursorExpiredError', reason });

test('where the log was empty, and where nothing is kept, cursors hold as long as they tell the truth', async () => {
  const dataDir = await temporaryDirectory();
  const log = await openLog({ dataDir });
  const empty = await log.head(TENANT);
  const [lost] = await appendNumbers(log, [1]);
  await log.close();
  const database = new DatabaseSync(join(dataDir, 'deliveries.db'));
  database.exec('DELETE FROM delivery; DELETE FROM tenant');
  database.close();

  let now = 1_000_000;
  const restored = await openLog({ dataDir, now: () => now });
  expect(await restored.head(TENANT)).toBe(empty);
  await expect(restored.read(TENANT, { after: lost, limit: 1 })).rejects.toEqual(expiry('ahead'));
  const [first, last] = await appendNumbers(restored, [2, 3]);
  expect((await readAll(restored, empty)).map(numberOf)).toEqual([2, 3]);
  await expect(restored.read(TENANT, { after: lost, limit: 1 })).rejects.toEqual(expiry('replaced'));
  now += 10 * 3_600_000;
  await restored.trim();
  // Of what is kept, nothing: the place of the last is known all the same.
  expect(await restored.head(TENANT)).toBe(last);
  const page = await restored.read(TENANT, { after: last, limit: 1 });
  expect(page).toMatchObject({ deliveries: [], hasMore: false, scannedTo: last, head: last });
  await expect(restored.read(TENANT, { after: first, limit: 1 })).rejects.toEqual(expiry('trimmed'));
});

test('a cursor of a delivery that was just trimmed is told from one of another that had its number', async () => {
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

describe('a folder of the release before', () => {
  const SEED = Buffer.alloc(32, 7);

  /** As that release made it, with the deliveries 3 to 6 of which none is in an index, and two trimmed before them. */
  const folderOfBefore = async (): Promise<string> => {
    const dataDir = await temporaryDirectory();
    const database = new DatabaseSync(join(dataDir, 'deliveries.db'));
    database.exec(`
      PRAGMA journal_mode = WAL;
      CREATE TABLE log (epoch_seed BLOB NOT NULL) STRICT;
      CREATE TABLE tenant (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, head INTEGER NOT NULL DEFAULT 0,
        floor INTEGER NOT NULL DEFAULT 0, indexed INTEGER NOT NULL DEFAULT 0) STRICT;
      CREATE TABLE delivery (id INTEGER PRIMARY KEY, tenant INTEGER AS (id >> 40),
        sequence INTEGER AS (id & 0xFFFFFFFFFF), webhook TEXT, type TEXT, chain INTEGER, received INTEGER NOT NULL,
        dispatched INTEGER, attempt INTEGER, identity BLOB NOT NULL, addresses TEXT NOT NULL, body BLOB NOT NULL) STRICT;
      CREATE TABLE identity (tenant INTEGER NOT NULL, identity BLOB NOT NULL, sequence INTEGER NOT NULL,
        PRIMARY KEY (tenant, identity)) STRICT, WITHOUT ROWID;
      CREATE TABLE segment (tenant INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
        PRIMARY KEY (tenant, first)) STRICT, WITHOUT ROWID;
      CREATE TABLE posting (tenant INTEGER NOT NULL, segment INTEGER NOT NULL, term TEXT NOT NULL,
        sequences BLOB NOT NULL, PRIMARY KEY (tenant, segment, term)) STRICT, WITHOUT ROWID;
      INSERT INTO tenant VALUES (1, '${TENANT}', 6, 2, 2);
      PRAGMA user_version = 2`);
    database.prepare('INSERT INTO log VALUES (?)').run(SEED);
    const insert = database.prepare(
      `INSERT INTO delivery (id, webhook, type, chain, received, identity, addresses, body)
       VALUES (1 << 40 | ?, ?, 'activities', 1, ?, ?, '', ?)`,
    );
    for (const number of range(3, 6)) {
      const { webhookId, receivedAt, body } = delivery(number);
      const identity = hash('sha256', `${webhookId}\n${body}`, 'buffer').subarray(0, 16);
      insert.run(number, webhookId, receivedAt, identity, body);
    }
    database.close();
    return dataDir;
  };

  /** As that release made it: by the number alone. */
  const numbered = (sequence: number): string => {
    const bytes = Buffer.alloc(15, 1);
    createHmac('sha256', SEED).update(TENANT).digest().copy(bytes, 1, 0, 8);
    bytes.writeUIntBE(sequence, 9, 6);
    return bytes.toString('base64url');
  };

  test('opens, stores, trims and tells duplicates; its cursors still resume', async () => {
    const log = await openLog({ dataDir: await folderOfBefore(), retentionCount: 4 });
    for (const sequence of range(2, 6))
      expect((await readAll(log, numbered(sequence))).map(numberOf)).toEqual(range(sequence + 1, 6));
    expect(await log.get(TENANT, numbered(4))).toMatchObject({ sequence: 4, cursor: numbered(4) });
    await expect(log.read(TENANT, { after: numbered(1), limit: 1 })).rejects.toEqual(expiry('trimmed'));
    await expect(log.read(TENANT, { after: numbered(7), limit: 1 })).rejects.toEqual(expiry('ahead'));

    const newest = await log.read(TENANT, { before: numbered(6), take: 'newest', limit: 10 });
    expect(newest.deliveries.map(numberOf)).toEqual([3, 4, 5]);
    // What lies before the oldest was trimmed when nothing was kept of it: its number has to do.
    expect(newest.scannedTo).toBe(numbered(2));
    const [repeated, added] = await log.append([delivery(5), delivery(7)]);
    expect([repeated, added]).toMatchObject([
      { sequence: 5, duplicate: true },
      { sequence: 7, duplicate: false },
    ]);
    await log.trim();
    expect((await readAll(log, repeated?.cursor)).map(numberOf)).toEqual([6, 7]);
    expect((await readAll(log, numbered(3))).map(numberOf)).toEqual(range(4, 7));
    await expect(log.read(TENANT, { after: numbered(2), limit: 1 })).rejects.toEqual(expiry('trimmed'));
  });
});
