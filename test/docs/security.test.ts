import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { DEMO_WALLETS } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { folderOf } from '../support/folder.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { readPage, root, rowsOf } from '../support/pages.ts';

const page = await readPage('docs/security.md');

test("docs/security.md's command makes trusted documents of its sample, and they run", async () => {
  const [, line = ''] = /^(npm run trust .*)$/m.exec(page.text) ?? [];
  await using folder = await folderOf({});
  const path = folder.path('documents.json');
  await promisify(execFile)('sh', ['-c', line.replace('documents.json', path)], { cwd: root });
  const documents: Record<string, string> = JSON.parse(await readFile(path, 'utf8'));
  await using gateway = await startGateway({ TRUSTED_DOCUMENTS: path });
  const variables = { address: DEMO_WALLETS[0]?.address };
  const queries = Object.entries(documents).filter(([, text]) => text.startsWith('query'));
  expect(queries).toHaveLength(2);
  expect(Object.keys(documents)).toHaveLength(3);
  for (const [documentId] of queries) {
    const reply = await gateway.post(JSON.stringify({ documentId, variables }));
    expect(reply.errors).toBeUndefined();
  }
});

test('an answer has each header of docs/security.md', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { headers } = await fetch(`${gateway.url}/graphql?query={__typename}`);
  const rows = rowsOf(page, 'header');
  expect(rows).toHaveLength(6);
  for (const [name = '', value = ''] of rows) expect(`\`${headers.get(name)}\``, name).toBe(value);
});
