import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { folderOf } from '../support/folder.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';

/** `npm run trust`, as its users run it. */

const ROOT = join(import.meta.dirname, '../..');
const TYPENAME = 'query Name { __typename }';
const HEAD = 'query Head($first: Int) { deliveries(first: $first) { head } }';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const trust = (...paths: string[]) =>
  new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    const node = join(ROOT, 'node_modules/.bin/node');
    execFile(node, ['src/cli/persist-documents.ts', ...paths], { cwd: ROOT }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });

test('takes each operation of .graphql files, with the fragments that it uses from any of them', async () => {
  await using folder = await folderOf({
    'queries/a.graphql':
      'query A { wallet(address: "0x0000000000000000000000000000000000000001") { ...W } } query B { __typename }',
    'queries/deeper/fragments.gql':
      'fragment W on Wallet { transactions { ...T } } fragment T on TransactionConnection { nodes { hash } }',
    'queries/notes.txt': 'not GraphQL',
  });
  const { code, stdout, stderr } = await trust(folder.path('queries'));
  expect(code).toBe(0);
  const documents = Object.entries<string>(JSON.parse(stdout));
  expect(documents).toHaveLength(2);
  for (const [hash, text] of documents) expect(hash).toBe(sha256(text));
  const [a, b] = ['query A', 'query B'].map((name) => documents.find(([, text]) => text.includes(name)));
  expect(a?.[1]).toContain('fragment W on Wallet');
  expect(a?.[1]).toContain('fragment T on TransactionConnection');
  expect(a?.[1]).not.toContain('__typename');
  expect(b?.[1]).not.toContain('fragment');
  expect(stderr).toContain(`${a?.[0]} A\n`);
  await using trusted = await folderOf({ 'trusted.json': stdout });
  await using gateway = await startGateway({
    UPSTREAM_URL: nowhere,
    TRUSTED_DOCUMENTS: trusted.path('trusted.json'),
  });
  const reply = await gateway.post(JSON.stringify({ documentId: b?.[0] }));
  expect(reply.data).toEqual({ __typename: 'Query' });
});

test('takes documents with @defer and @stream', async () => {
  await using folder = await folderOf({
    'a.graphql':
      'query A($a: Address!) { wallet(address: $a) { ... @defer(label: "later") { transactions { nodes @stream(initialCount: 5) { hash } } } } }',
    'b.graphql': 'query B { chains { ...C @defer } } fragment C on Chain { name }',
    'c.graphql': 'subscription S { deliveries { ... @defer { cursor } } }',
  });
  const { code, stdout } = await trust(folder.path('a.graphql'), folder.path('b.graphql'));
  expect(code).toBe(0);
  expect(Object.values(JSON.parse(stdout)).join()).toMatch(
    /@defer\(label: "later"\)[\s\S]*@stream\(initialCount: 5\)/,
  );
  const refused = await trust(folder.path('c.graphql'));
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('Defer directive not supported on subscription operations');
});

test('takes a file once, however often its path leads to it', async () => {
  await using folder = await folderOf({
    'queries/a.graphql': 'query A { deliveries { ...D } } fragment D on WebhookDeliveryConnection { head }',
  });
  const { code, stderr } = await trust(folder.path('queries'), `${folder.path('queries')}/./a.graphql`);
  expect(code).toBe(0);
  expect(stderr.match(/ A\n/g)).toHaveLength(1);
});

test("takes Relay's persisted queries as they are, by sha256", async () => {
  const md5 = createHash('md5').update(HEAD).digest('hex');
  await using folder = await folderOf({ 'persisted.json': JSON.stringify({ [md5]: HEAD, x: TYPENAME }) });
  const { stdout } = await trust(folder.path('persisted.json'));
  expect(JSON.parse(stdout)).toEqual({ [sha256(HEAD)]: HEAD, [sha256(TYPENAME)]: TYPENAME });
});

test("takes what Relay's compiler persists by SHA256 under the ids that its clients send", async () => {
  await using folder = await folderOf({
    'schema.graphql': await readFile(join(ROOT, 'schema.graphql'), 'utf8'),
    'src/app.ts':
      "import { graphql } from 'relay-runtime';\nexport const head = graphql`query appQuery { deliveries { head } }`;",
    'persisted.json': '{}',
    'relay.config.json': JSON.stringify({
      src: './src',
      schema: './schema.graphql',
      language: 'typescript',
      eagerEsModules: true,
      persistConfig: { file: './persisted.json', algorithm: 'SHA256' },
    }),
  });
  await promisify(execFile)(join(ROOT, 'node_modules/.bin/relay-compiler'), ['relay.config.json'], {
    cwd: folder.path('.'),
  });
  const { stdout } = await trust(folder.path('persisted.json'));
  const persistedByRelay = JSON.parse(await readFile(folder.path('persisted.json'), 'utf8'));
  expect(Object.keys(persistedByRelay)).toHaveLength(1);
  expect(JSON.parse(stdout)).toEqual(persistedByRelay);
});

test('writes the file that --out names, once everything in it is right', async () => {
  await using folder = await folderOf({ 'queries/a.graphql': TYPENAME, 'wrong/a.graphql': '{ nothing }' });
  const out = folder.path('documents.json');
  const refused = await trust(folder.path('wrong'), '--out', out);
  expect(refused.code).toBe(1);
  expect(existsSync(out)).toBe(false);
  const { code, stdout } = await trust(folder.path('queries'), '--out', out);
  expect(code).toBe(0);
  expect(stdout).toBe('');
  expect(Object.values<string>(JSON.parse(await readFile(out, 'utf8')))).toHaveLength(1);
  const lost = await trust(folder.path('queries'), '--out', folder.path('nowhere/documents.json'));
  expect(lost).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/nowhere.documents\.json: no such file/),
  });
});

test.each<[what: string, args: string[], problem: RegExp]>([
  ['no path', [], /expected files or folders of documents, got none/],
  ['a path where nothing is', ['test', '/nowhere/queries'], /^\/nowhere\/queries: no such file/],
  ['an option that there is not', ['test', '--output', 'x'], /--output/],
])('says in one line what is wrong, and prints nothing: %s', async (_what, args, problem) => {
  const { code, stdout, stderr } = await trust(...args);
  expect(code).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toMatch(problem);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});

test.each<[what: string, files: Record<string, string>, problem: RegExp]>([
  ['a fragment that is nowhere', { 'a.graphql': 'query A { ...W }' }, /a\.graphql: Unknown fragment "W"/],
  [
    'two fragments of one name',
    { 'a.graphql': 'fragment W on Wallet { id }', 'b.graphql': 'fragment W on Wallet { address }' },
    /a\.graphql, \S+b\.graphql: expected one fragment of each name, got 2 called W/,
  ],
  ['no GraphQL', { 'a.graphql': 'query {' }, /Syntax Error.*[\s\S]*a\.graphql/],
  [
    'fields that are not there, of two files',
    { 'a.graphql': '{ nothing }', 'b.graphql': '{ deliveries { other } }', 'c.graphql': TYPENAME },
    /a\.graphql: Cannot query field "nothing".*\n.*b\.graphql: Cannot query field "other"/,
  ],
  [
    'a field that is not there, of a fragment in another file',
    {
      'a.graphql': 'query A { deliveries { ...D } }',
      'b.gql': 'fragment D on WebhookDeliveryConnection { nothing }',
    },
    /a\.graphql, .*b\.gql: Cannot query field "nothing"/,
  ],
  ['no operation', { 'a.graphql': 'fragment W on Wallet { id }' }, /^\S+: expected operations, got none/],
])('says what is wrong, and prints nothing: %s', async (_what, files, problem) => {
  await using folder = await folderOf(files);
  const { code, stdout, stderr } = await trust(folder.path('.'));
  expect(code).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toMatch(problem);
});

test.each<[what: string, content: string, problem: RegExp]>([
  ['no JSON', '{', /persisted\.json: expected a JSON object of documents/],
  ['texts that are none', '{"a":1}', /persisted\.json: expected a JSON object of documents/],
  ['a document that is not of this schema', '{"a":"{ nothing }"}', /persisted\.json: Cannot query field/],
])("says what is wrong with Relay's persisted queries: %s", async (_what, content, problem) => {
  await using folder = await folderOf({ 'persisted.json': content });
  const { code, stdout, stderr } = await trust(folder.path('persisted.json'));
  expect(code).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toMatch(problem);
});
