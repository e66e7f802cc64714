import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/clients/subscribe.ts';
import { freePort } from '../support/free-port.ts';
import { failOver, findRedisCli, startFailover } from '../support/redis/failover-script.ts';
import { NAME, startSentinels, startWatchedRedis } from '../support/redis/sentinel.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';

/** The script deploy/redis/failover as it is, with real Sentinels. */

/** A redis-cli that runs `then` in a shell once it has run a command that has `words`, before its answer is seen. */
const clientThat = async (words: string, then: (client: string) => string): Promise<string> => {
  const { path } = await findRedisCli();
  const folder = await mkdtemp(join(tmpdir(), 'failover-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'redis-cli');
  const lines = [
    '#!/bin/sh',
    `answer=$(${path} "$@")`,
    'case "$*" in',
    `*'${words}'*)`,
    then(path),
    ';; esac',
  ];
  await writeFile(file, [...lines, 'echo "$answer"', ''].join('\n'));
  await chmod(file, 0o755);
  return file;
};

test('when the former primary took a write after the promotion, it says so and does not discard it', async (context) => {
  await needRedis(context);
  const { primary, replica, sentinels } = await startWatchedRedis();
  const REDIS_CLI = await clientThat('GET-MASTER-ADDR-BY-NAME', (client) => {
    const former = `${client} -p ${primary.port}`;
    const write = `${former} CLIENT UNPAUSE >/dev/null; ${former} SET written late >/dev/null`;
    return `case "$answer" in *${replica.port}*) ${write};; esac`;
  });
  const { said, code } = await failOver([sentinels.hosts, NAME], { REDIS_CLI });
  expect([said, code]).toEqual([expect.stringContaining('the pause did not hold'), 1]);
  expect(said).toContain(`127.0.0.1:${primary.port} has not become its replica: shut it down`);
  expect(said).not.toContain('failover: done');
  expect(await primary.run('GET', 'written')).toBe('late');
});

test('it says what it expects of its arguments', async () => {
  const name = expect.stringContaining('expected the Sentinels and the name of the primary');
  for (const args of [[], ['127.0.0.1:26379'], ['127.0.0.1:26379', NAME, 'more']])
    expect(await failOver(args)).toEqual({ code: 2, said: name });
  const numbers = { said: expect.stringContaining("whole numbers, got '1s'"), code: 2 };
  expect(await failOver(['127.0.0.1:26379', NAME], { CATCH_UP_SECONDS: '1s' })).toEqual(numbers);
});

test('without a Sentinel that knows the primary, it changes nothing and says so', async (context) => {
  await needRedis(context);
  const { hosts } = await startSentinels({ primary: await startRedis() });
  const down = `127.0.0.1:${await freePort()}`;
  const { said, code } = await failOver([down, NAME]);
  expect(code).toBe(1);
  expect(said).toContain(`the Sentinel at ${down} does not name a primary ${NAME}: Could not connect`);
  expect(said).toContain('nothing was changed');
  const unknown = await failOver([`${down},${hosts}`, 'another']);
  expect(unknown).toEqual({ code: 1, said: expect.stringContaining('names a primary another; nothing was') });
});

test('when no replica can be promoted, or it is stopped, writes go on at the primary', async (context) => {
  await needRedis(context);
  const { primary, replica, sentinels } = await startWatchedRedis({
    settings: [`sentinel down-after-milliseconds ${NAME} 60000`],
  });
  const takesWrites = async (): Promise<void> => {
    expect(await primary.run('SET', 'key', 'value')).toBe('OK');
    expect(String(await primary.run('INFO', 'clients'))).toMatch(/blocked_clients:0/);
  };
  // A replica that hangs does not catch up.
  replica.pause();
  await primary.run('SET', 'key', 'value');
  const late = await failOver([sentinels.hosts, NAME], { CATCH_UP_SECONDS: '1' });
  expect([late.code, late.said]).toEqual([1, expect.stringContaining('have not caught up within 1 s')]);
  expect(late.said).toContain('which is the primary as before');
  await takesWrites();

  const waiting = await startFailover([sentinels.hosts, NAME], { CATCH_UP_SECONDS: '60' });
  await eventually(() => waiting.hasSaid('holds writes back'));
  waiting.stop();
  const stopped = await waiting.ended;
  expect([stopped.code, stopped.said]).toEqual([1, expect.stringContaining('stopped by a signal')]);
  await takesWrites();

  // A primary that hangs does not answer.
  const unanswered = await startFailover([sentinels.hosts, NAME], { CATCH_UP_SECONDS: '60' });
  await eventually(() => unanswered.hasSaid('holds writes back'));
  primary.pause();
  const hanging = await unanswered.ended;
  expect([hanging.code, hanging.said]).toEqual([
    1,
    expect.stringContaining('no longer holds writes back: no answer'),
  ]);
  primary.resume();
  await takesWrites();
  replica.resume();

  await replica.run('CONFIG', 'SET', 'replica-priority', '0');
  const priority = async () => JSON.stringify(await sentinels.run('SENTINEL', 'REPLICAS', NAME));
  await expect.poll(priority).toContain('"slave-priority":"0"');
  const refused = await failOver([sentinels.hosts, NAME]);
  expect([refused.code, refused.said]).toEqual([1, expect.stringMatching(/NOGOODSLAVE|can't promote/)]);
  await takesWrites();
  expect(await sentinels.primaryPort()).toBe(primary.port);
});
