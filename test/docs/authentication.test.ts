import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { SCOPES } from '../../src/scopes.ts';
import { startGateway } from '../support/gateway/start.ts';
import { readPage, root, rowsOf } from '../support/pages.ts';

const page = await readPage('docs/authentication.md');

test('a token that docs/authentication.md makes opens a gateway that is started as it says', async () => {
  const [, secret = ''] = /export JWT_SECRET=(\S+)/.exec(page.text) ?? [];
  const [command = ''] = /node --input-type=module -e "[^"]+"/.exec(page.text) ?? [];
  const { stdout } = await promisify(execFile)('sh', ['-c', command], {
    cwd: root,
    env: { ...process.env, JWT_SECRET: secret },
  });
  await using gateway = await startGateway({ AUTH: 'jwt', JWT_SECRET: secret });
  const reply = await gateway.query(
    '{ deliveries { head } deliveryUrl wallets(addresses: []) { address } }',
    {},
    { authorization: `Bearer ${stdout.trim()}` },
  );
  expect(reply.errors).toBeUndefined();
  expect(reply.data).toMatchObject({ deliveryUrl: expect.stringContaining('/deliveries/demo/') });
});

test('docs/authentication.md has every scope', () => {
  const scopes = rowsOf(page, 'scope').map(([scope = '']) => scope.replaceAll('`', ''));
  expect(scopes.toSorted()).toEqual([...SCOPES].toSorted());
});
