import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { address } from '../../deliveries/support/builders.ts';
import { storeMany } from '../../deliveries/support/stored.ts';
import { postFrom } from '../../support/clients/post-from.ts';
import { eventually, subscribe } from '../../support/clients/subscribe.ts';
import { spawnGateway } from '../../support/gateway/spawn.ts';
import { heldKey, nowhere } from '../../support/gateway/start.ts';

/** What filters that match nothing do to all others, and to a gateway that is to stop. */

const STORED = 60_000;
const ALIASES = 30;

/** Half of all deliveries have the one term, half have the other, and none has both. */
const NEVER = 'filter: { types: [ACTIVITIES], chainIds: [1, 3, 5, 7] }';

const ATTACK = `{ ${Array.from({ length: ALIASES }, (_, n) => `a${n}: deliveries(${NEVER}) { head }`).join(' ')} }`;

let dataDir: string;
let gateway: Awaited<ReturnType<typeof spawnGateway>>;
let url: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'gateway-searches-'));
  const database = storeMany(dataDir, { tenants: 1, each: STORED });
  database.exec("UPDATE tenant SET name = 'default'");
  database.close();
  const env = { UPSTREAM_URL: nowhere, UPSTREAM_API_KEY: heldKey, AUTH: 'open', DATA_DIR: dataDir };
  gateway = await spawnGateway(env);
  url = gateway.url;
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(dataDir, { recursive: true, force: true });
});

type Reply = {
  data: Record<string, object | null>;
  errors?: { extensions: { code: string } }[];
};

const ask = async (url: string, query: string, signal?: AbortSignal): Promise<Reply> => {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
    signal: signal ?? null,
  });
  return (await response.json()) as Reply;
};

const attackers = (url: string, count: number, signal?: AbortSignal) =>
  Array.from({ length: count }, () => ask(url, ATTACK, signal));

/** Whether each search of the operation was answered, or refused with RATE_LIMITED. */
const isFair = ({ data, errors = [] }: Reply): boolean =>
  Object.keys(data).length === ALIASES &&
  errors.every(({ extensions }) => extensions.code === 'RATE_LIMITED');

test('a subscription with a rare filter goes on to what matches, from far behind', async () => {
  const { deliveries } = (await ask(url, '{ deliveries(first: 1) { edges { cursor } } }')).data as {
    deliveries: { edges: [{ cursor: string }] };
  };
  const after = deliveries.edges[0].cursor;
  await using rare = subscribe(url, { after, filter: { address: address(STORED - 5) } });
  await eventually(() => rare.edges.length === 1);
  expect(rare.edges[0]?.node.payload).toEqual({ number: STORED - 5 });
  // Meanwhile, nothing is added: what waits for a segment gets into one all the same.
  const database = new DatabaseSync(join(dataDir, 'deliveries.db'), { readOnly: true });
  const indexed = database.prepare('SELECT indexed FROM tenant');
  await vi.waitFor(() => expect(Number(indexed.get()?.indexed)).toBeGreaterThan(STORED - 4096), 120_000);
  database.close();
});

test('100 clients with filters that never match leave the gateway ready, and others served', async () => {
  const attack = Promise.all(attackers(url, 100));
  const isOver = attack.then(
    () => true,
    () => true,
  );
  const statuses: number[] = [];
  const found: Reply[] = [];
  const query = `{ deliveries(filter: { address: "${address(STORED - 5)}" }, last: 1) { nodes { payload } } }`;
  while (!(await Promise.race([isOver, pause(100, false)]))) {
    statuses.push((await fetch(`${url}/health/ready`)).status);
    // The log serves clients in turn, and without credentials an address is a client.
    found.push(JSON.parse(await postFrom('127.0.0.2', url, { query })));
  }
  expect(statuses.length).toBeGreaterThan(0);
  expect(new Set(statuses)).toEqual(new Set([200]));
  for (const reply of found) {
    expect(reply.errors).toBeUndefined();
    expect(reply.data.deliveries).toEqual({ nodes: [{ payload: { number: STORED - 5 } }] });
  }
  expect((await attack).filter((reply) => !isFair(reply))).toEqual([]);
});

test('what clients searched for that are gone is searched no more', async () => {
  const clientSignal = new AbortController();
  const attack = Promise.allSettled(attackers(url, 100, clientSignal.signal));
  await pause(500);
  clientSignal.abort();
  await attack;
  // Else they would have the log for longer than an operation waits for it.
  const { data, errors } = await ask(url, `{ deliveries(${NEVER}) { head } }`);
  expect(errors).toBeUndefined();
  expect(data.deliveries).toEqual({ head: expect.any(String) });
});

/** The last, since it stops the gateway. */
test('a stop during 100 such operations ends with 0', async () => {
  const attack = attackers(url, 100);
  const answers = Promise.allSettled(attack);
  await Promise.race(attack);
  expect(await gateway.end('SIGTERM')).toBe(0);
  await answers;
});
