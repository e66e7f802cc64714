import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { eventually, subscribe } from '../support/clients/subscribe.ts';
import { folderOf } from '../support/folder.ts';
import { scrape } from '../support/gateway/prometheus.ts';
import { spawnWorkers } from '../support/gateway/workers.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';
import { startBlockingService } from '../support/upstream/blocking-service.ts';

/** Signals to the primary reach all workers. */

/** Changes of one webhook wait for each other, so each is of another one. */
const mutationOf = (number: number): string => `mutation {
  updateWebhook(input: { webhookId: "0193f0a0-0000-7000-8000-00000000000${number}", name: "new" }) { __typename }
}`;

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test('at SIGTERM all workers finish what runs, close sockets so that clients resume, and end with the primary', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using service = await startBlockingService();
  await using made = new AsyncDisposableStack();
  const gateway = made.use(await spawnWorkers(redis.url, { UPSTREAM_URL: service.url }));
  const pids = await gateway.pids();
  const readers = Array.from({ length: 8 }, () => made.use(subscribe(gateway.url)));
  await expect.poll(async () => (await scrape(gateway.url)).sum('gateway_readers')).toBe(8);
  const mutations = Array.from({ length: 8 }, (_, number) =>
    fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ query: mutationOf(number) }),
    }).then((response) => response.text()),
  );
  await service.asked(8);
  const exit = gateway.end('SIGTERM');
  await eventually(() => gateway.said('stopping').length > 0);
  gateway.child.kill('SIGTERM');
  service.answerAll();
  for (const text of await Promise.all(mutations)) expect(text).toContain('UpdateWebhookPayload');
  expect(await exit).toBe(0);
  await Promise.all(readers.map(({ ended }) => ended));
  expect(readers.map(({ closes }) => closes)).toEqual(readers.map(() => [1012]));
  expect(pids.filter(isRunning)).toEqual([]);
  expect([gateway.said('stopping').length, gateway.said('stopped').length]).toEqual([1, 1]);
  expect(gateway.lines.filter((line) => line.includes('"error"'))).toEqual([]);
});

test('SIGHUP lets all workers read the trusted documents again', async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  const [old, added] = ['{ __typename }', 'query Added { __typename }'];
  const idOf = (document: string) => createHash('sha256').update(document).digest('hex');
  const file = (...documents: string[]) =>
    JSON.stringify(Object.fromEntries(documents.map((document) => [idOf(document), document])));
  await using folder = await folderOf({ 'documents.json': file(old) });
  const path = folder.path('documents.json');
  await using gateway = await spawnWorkers(redis.url, { TRUSTED_DOCUMENTS: path });
  await writeFile(path, file(old, added));
  gateway.child.kill('SIGHUP');
  await eventually(() => gateway.said('trusted documents reloaded').length === 2);
  expect(new Set(gateway.said('trusted documents reloaded').map(({ worker }) => worker))).toEqual(
    new Set([1, 2]),
  );
  for (let again = 0; again < 20; again += 1) {
    const response = await fetch(`${gateway.url}/graphql?documentId=${idOf(added)}`, {
      headers: { connection: 'close' },
    });
    expect(await response.json()).toMatchObject({ data: { __typename: 'Query' } });
  }
});
