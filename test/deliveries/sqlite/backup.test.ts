import { execFile } from 'node:child_process';
import { mkdir, readdir, stat, symlink, truncate } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { deliver } from '../../support/clients/deliver.ts';
import { folderOf } from '../../support/folder.ts';
import { nowhere, startGateway } from '../../support/gateway/start.ts';
import { blocksOf, readPage } from '../../support/pages.ts';

/** The steps of docs/webhooks-and-deliveries.md#backup-and-restore, run as they are written. */

const page = await readPage('docs/webhooks-and-deliveries.md');
const [, section = ''] = page.text.split('\n## Backup and restore\n');
const [backup = '', restore = ''] = blocksOf({ ...page, text: section }, 'console');

const DATA = '/var/lib/gateway-4001';
const [, BACKUPS = '', NAMED = ''] = /=(\/\S+)\/(\S+)$/m.exec(restore) ?? [];
const execute = promisify(execFile);

/** A machine with the folder of the shipped unit: systemd makes it a link into a private one (DynamicUser). */
const startMachine = async () => {
  const folder = await folderOf({});
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const [data, backups] = [folder.path('gateway-4001'), folder.path('backups')];
  await mkdir(folder.path('private'), { mode: 0o700 });
  await mkdir(folder.path('private/gateway-4001'), { mode: 0o700 });
  await symlink('private/gateway-4001', data);
  await mkdir(backups);
  let seconds = 1_800_000_000;
  /** Runs the steps of a block, and returns what they complain of. Only the unit and the clock are the test's own. */
  const run = async (block: string, named = ''): Promise<string> => {
    seconds += 1;
    const steps = [...block.matchAll(/^# (.*)$/gm)]
      .map(([, step = '']) => step)
      .join('\n')
      .replaceAll(DATA, data)
      .replaceAll(BACKUPS, backups)
      .replaceAll(NAMED, named);
    const unit = 'systemctl() { echo "$@"; }';
    const clock = `date() { command date -d @${seconds} "$@"; }`;
    const { stdout, stderr } = await execute('sh', [
      '-euc',
      `umask 022\nexport LC_ALL=C\n${unit}\n${clock}\n${steps}`,
    ]);
    expect(stdout).toMatch(/^stop gateway@4001\n(.*\n)*start gateway@4001\n$/);
    return stderr;
  };
  /** Starts the gateway, and posts a delivery to it. Returns what its log has then. */
  const serve = async (number: number, path?: string) => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere, DATA_DIR: data });
    const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
    const status = await deliver(gateway.url + (path ?? new URL(deliveryUrl).pathname), { body: { number } });
    const { deliveries } = await gateway.data<{
      deliveries: { edges: { node: { payload: { number: number } } }[] };
    }>('{ deliveries { edges { node { payload } } } }');
    const numbers = deliveries.edges.map(({ node }) => node.payload.number);
    return { status, numbers, path: new URL(deliveryUrl).pathname };
  };
  return { data, backups, run, serve };
};

test('each backup holds the log and the secret of its time, for root alone, and is restored in place of what is there', async () => {
  const { data, backups, run, serve } = await startMachine();
  const { path } = await serve(1);
  expect(await run(backup)).toBe('');
  await serve(2);
  expect(await run(backup)).toBe('');
  await serve(3);
  const names = (await readdir(backups)).toSorted();
  expect(names).toHaveLength(2);
  for (const name of names) {
    expect(name).toMatch(new RegExp(`^${NAMED.replaceAll(/\d/g, '\\d')}$`));
    expect((await stat(`${backups}/${name}`)).mode & 0o777).toBe(0o600);
  }
  const [first = '', second = ''] = names;
  expect(await run(restore, first)).toBe('');
  expect(await serve(11, path)).toEqual({ status: 200, numbers: [1, 11], path });
  expect(await run(restore, second)).toBe('');
  expect(await serve(12, path)).toEqual({ status: 200, numbers: [1, 2, 12], path });
  expect((await stat(data)).mode & 0o777).toBe(0o700);
});

test('a backup that is cut, or not there, leaves the folder as it is', async () => {
  const { backups, run, serve } = await startMachine();
  const { path } = await serve(1);
  expect(await run(backup)).toBe('');
  const [name = ''] = await readdir(backups);
  const { size } = await stat(`${backups}/${name}`);
  await truncate(`${backups}/${name}`, size - 100);
  expect(await run(restore, name)).toContain('unexpected end of file');
  expect(await run(restore, 'another.tar.gz')).toContain('No such file');
  expect(await serve(2, path)).toEqual({ status: 200, numbers: [1, 2], path });
});
