import { expect, test } from 'vitest';
import { sleep } from '../support/clients/queries.ts';
import { eventually, subscribe } from '../support/clients/subscribe.ts';
import { folderOf } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { runLogCommand } from '../support/gateway/log-command.ts';
import { deliveryPathOf, everythingStored, headOf, numberOf, post } from '../support/gateway/on-redis.ts';
import { spawnGateway } from '../support/gateway/spawn.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';

/** A log that moves from a folder to Redis and to another folder, while the service delivers and subscribers resume. */

const SENDERS = 4;
const A_PHASE = 60;

test('a log that moves to Redis and back under load has every delivery once, for subscribers with the cursors they had', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using folder = await folderOf({});
  const [first, second] = [folder.path('first'), folder.path('second')];
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  // Its secrets are made at the first start, and move with the log.
  const startOn = (place: Record<string, string>) =>
    spawnGateway({
      ...{ UPSTREAM_URL: 'http://127.0.0.1:9', UPSTREAM_API_KEY: 'unused', AUTH: 'open', PORT: port },
      ...place,
    });
  const places = [
    { place: { DATA_DIR: first }, next: redis.url },
    { place: { REDIS_URL: redis.url }, next: second },
    { place: { DATA_DIR: second }, next: null },
  ];
  let gateway = await startOn({ DATA_DIR: first });
  const [path, head] = [await deliveryPathOf(url), await headOf(url)];

  const answered = new Set<number>();
  let isSending = true;
  let sent = 0;
  const send = async () => {
    for (; isSending; await sleep(5)) {
      const number = sent;
      sent += 1;
      while ((await post(url, path, number)) !== 200) await sleep(20);
      answered.add(number);
    }
  };
  let isReading = true;
  const faults: unknown[] = [];
  const read = async (seen: number[], filter?: object) => {
    for (let after = head; isReading; await sleep(20)) {
      await using dashboard = subscribe(url, { after, ...(filter && { filter }) });
      await Promise.race([dashboard.ended, sleep(300)]);
      after = dashboard.edges.at(-1)?.cursor ?? after;
      seen.push(...dashboard.edges.map(numberOf));
      faults.push(...dashboard.faults);
    }
  };
  const seenBy: number[][] = [[], []];
  const readers = seenBy.map((seen, index) =>
    read(seen, index === 0 ? undefined : { address: `0x${'aa'.padStart(40, '0')}` }),
  );
  const senders = Array.from({ length: SENDERS }, send);

  for (const { place, next } of places) {
    const enough = answered.size + A_PHASE;
    await eventually(() => answered.size >= enough);
    if (next === null) break;
    expect(await gateway.end('SIGTERM')).toBe(0);
    const [from = ''] = Object.values(place);
    const copied = await runLogCommand(['copy', from, next]);
    expect(copied).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Copied \d+ deliveries /) });
    // No gateway starts on the place that it has left.
    await expect(startOn(place)).rejects.toThrow(`this log was copied to ${next}`);
    gateway = await startOn(next === second ? { DATA_DIR: second } : { REDIS_URL: redis.url });
  }
  isSending = false;
  await Promise.all(senders);

  const stored = await everythingStored(url);
  expect([...stored].sort((one, other) => one - other)).toEqual(
    [...answered].sort((one, other) => one - other),
  );
  await eventually(
    () => faults.length > 0 || seenBy.every((seen) => seen.length >= stored.length),
    () => [stored.length, seenBy.map(({ length }) => length)],
  );
  isReading = false;
  await Promise.all(readers);
  expect(faults).toEqual([]);
  for (const seen of seenBy) expect(seen).toEqual(stored);
  // What the service repeats is a duplicate still, wherever it was stored.
  for (const number of stored) expect(await post(url, path, number)).toBe(200);
  expect(await everythingStored(url)).toEqual(stored);
  await gateway.end('SIGTERM');
});
