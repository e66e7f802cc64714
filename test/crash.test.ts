import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { activity, deliver } from './support/deliver.ts';
import { spawnGateway } from './support/process.ts';
import { type Edge, eventually, subscribe } from './support/subscribe.ts';

/** The shipped process, killed while deliveries arrive. */

const ENV = { UPSTREAM_URL: 'http://127.0.0.1:9', UPSTREAM_API_KEY: 'unused', AUTH: 'open' };

const ask = async <Data>(url: string, query: string): Promise<Data> => {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  return ((await response.json()) as { data: Data }).data;
};

const numberOf = ({ node }: Edge): number =>
  (node.payload as ReturnType<typeof activity>).activities[0]?.block_number ?? -1;

test('a client that resumes after kill -9 sees every delivery that was answered 2xx, once, in order', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-crash-'));
  const answered = new Set<number>();
  const seen: number[] = [];
  let cursor: string | undefined;
  let next = 0;
  try {
    for (let round = 0; round < 5; round += 1) {
      await using gateway = await spawnGateway({ ...ENV, DATA_DIR: dataDir });
      const { deliveryUrl } = await ask<{ deliveryUrl: string }>(gateway.url, '{ deliveryUrl }');
      await using dashboard = subscribe(gateway.url, cursor === undefined ? {} : { after: cursor });
      await dashboard.opened;
      if (cursor === undefined) {
        await deliver(deliveryUrl, { body: activity(next) });
        answered.add(next);
        next += 1;
        await eventually(() => dashboard.edges.length > 0);
      }
      let posting = true;
      const senders = Array.from({ length: 8 }, async () => {
        while (posting) {
          const number = next;
          next += 1;
          if ((await deliver(deliveryUrl, { body: activity(number) })) === 200) answered.add(number);
          else break;
        }
      });
      const enough = answered.size + 50 + 20 * round;
      await eventually(() => answered.size >= enough);
      await gateway.end('SIGKILL');
      posting = false;
      await Promise.all(senders);
      seen.push(...dashboard.edges.map(numberOf));
      cursor = dashboard.edges.at(-1)?.cursor ?? cursor;
    }
    await using gateway = await spawnGateway({ ...ENV, DATA_DIR: dataDir });
    await using dashboard = subscribe(gateway.url, { after: cursor ?? '' });
    const { deliveries } = await ask<{ deliveries: { edges: Edge[] } }>(
      gateway.url,
      '{ deliveries(first: 1000) { edges { node { payload } } } }',
    );
    // What was stored and not answered any more is there too.
    await eventually(() => seen.length + dashboard.edges.length >= deliveries.edges.length);
    await eventually(() =>
      [...answered].every(
        (number) => seen.includes(number) || dashboard.edges.some((edge) => numberOf(edge) === number),
      ),
    );
    seen.push(...dashboard.edges.map(numberOf));
    expect(seen.length).toBe(new Set(seen).size);
    expect([...answered].filter((number) => !seen.includes(number))).toEqual([]);
    expect(seen).toEqual(deliveries.edges.map(numberOf));
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

test('a gateway that is told to stop exits with 0 and lets its subscribers come back', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-stop-'));
  try {
    await using gateway = await spawnGateway({ ...ENV, DATA_DIR: dataDir });
    await using dashboard = subscribe(gateway.url);
    await dashboard.opened;
    expect(await gateway.end('SIGTERM')).toBe(0);
    await eventually(() => dashboard.closes.length > 0);
    expect(dashboard.closes).toEqual([1012]);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

test('a second gateway on the same folder is refused by the name of the variable', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-lock-'));
  try {
    await using _first = await spawnGateway({ ...ENV, DATA_DIR: dataDir });
    await expect(spawnGateway({ ...ENV, DATA_DIR: dataDir })).rejects.toThrow(/exited with 1: .*DATA_DIR/s);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});
