import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { need } from '../support/available.ts';
import { folderOf } from '../support/folder.ts';
import { root } from '../support/pages.ts';

const run = promisify(execFile);

test('systemd takes the unit as it is', async (context) => {
  const isThere = await run('systemd-analyze', ['--version']).then(
    () => true,
    () => false,
  );
  need(context, isThere, 'systemd-analyze');
  const unit = await readFile(join(root, 'deploy/systemd/gateway@.service'), 'utf8');
  // The one thing that only an installation has.
  await using folder = await folderOf({
    'gateway@.service': unit.replaceAll('/opt/gateway', root),
  });
  const { stdout, stderr } = await run('systemd-analyze', [
    'verify',
    '--man=no',
    folder.path('gateway@.service').replace('@.', '@4001.'),
  ]);
  expect(stdout + stderr).toBe('');
});
