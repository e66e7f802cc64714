import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CHECK_CREDITS, checkExplorers, TRIED } from '../../src/backend/explorer/check.ts';
import { KEY } from '../backend/explorer/support/asking.ts';
import { madeUp } from '../support/blockscout/made-up.ts';
import { startBlockscout } from '../support/blockscout/server.ts';
import { run } from '../support/gateway/run.ts';
import { root } from '../support/pages.ts';

/** What `--check` says of the explorers of BLOCKSCOUT. */

type Version = { readonly id: number; readonly version: string };

/** The hosted API, with a limit that no test waits for. */
const startHosted = (chains: readonly Version[]) =>
  startBlockscout({
    chains: chains.map((chain) => ({ ...chain, contents: madeUp({}, chain.id) })),
    hosted: { key: KEY, perSecond: 1_000 },
  });

type Explorer = Awaited<ReturnType<typeof startBlockscout>>;

const hostedEnv = ({ url }: Explorer, chains: string) => ({
  ...{ BLOCKSCOUT: chains, BLOCKSCOUT_API_KEY: KEY, BLOCKSCOUT_URL: url },
});

/** Changes each row of a list. */
const rows = (change: (row: Record<string, unknown>) => object) => ({
  change: (body: unknown) => {
    const page = body as { readonly items: readonly Record<string, unknown>[] };
    return { ...page, items: page.items.map((row) => ({ ...row, ...change(row) })) };
  },
});

test('each operation is tried once, after its credits were said, and what is left of them is told', async () => {
  await using hosted = await startHosted([{ id: 1, version: '12.0.2' }]);
  await using instance = await startBlockscout({
    chains: [{ id: 100, contents: madeUp({}, 100), version: '11.2.7' }],
  });
  const { code, stdout, stderr } = await run(['--check'], hostedEnv(hosted, `1,100=${instance.url}`));
  expect([code, stderr]).toEqual([
    0,
    `Trying the explorers of BLOCKSCOUT: ${2 * TRIED.length} requests, which take about ${CHECK_CREDITS} credits of the hosted API.\n`,
  ]);
  expect(stdout).toMatch(
    /^The explorer of chain 1, of the hosted API, is of version 12\.0\.2, with pages of up to 100 rows\.$/m,
  );
  expect(stdout).toMatch(
    /^The explorer of chain 100, an instance, is of version 11\.2\.7, with pages of 50 rows\.$/m,
  );
  for (const operation of TRIED)
    expect([operation, stdout.match(new RegExp(`^ {2}${operation} +answered`, 'gm'))?.length]).toEqual([
      operation,
      2,
    ]);
  expect(hosted.requests.reduce((sum, { credits }) => sum + credits, 0)).toBe(CHECK_CREDITS);
  expect(instance.requests).toHaveLength(TRIED.length);
  expect(instance.requests.some(({ headers }) => 'authorization' in headers)).toBe(false);
  const left = hosted.creditsLeft().toLocaleString('en');
  expect(stdout).toContain(`The hosted API has ${left} credits left for the key.`);
  expect(stdout).toContain('the explorers of BLOCKSCOUT');
  expect(stdout).not.toContain(KEY);
});

test('what differs is named by chain, operation and place, and hides nothing of the other chains', async () => {
  await using hosted = await startHosted([
    { id: 1, version: '12.0.2' },
    { id: 8453, version: '11.2.7' },
  ]);
  const ofChain = (chainId: number, end: string) => (request: Explorer['requests'][number]) =>
    request.chainId === chainId && request.path.endsWith(end);
  hosted.plant(
    rows(() => ({ id: 7 })),
    ofChain(8453, '/nft'),
  );
  hosted.plant(
    rows(({ token }) => ({ token: { ...(token as object), exchange_rate: 18, holders_count: undefined } })),
    ofChain(8453, '/tokens'),
  );
  hosted.plant({ status: 500, json: { error: 'x', source: 'upstream' } }, ofChain(8453, '/stats'));
  const { code, stdout, stderr } = await run(['--check'], hostedEnv(hosted, '1,8453,5'));
  expect([code, stdout]).toEqual([1, '']);
  for (const line of [
    /^The explorer of chain 1, of the hosted API, is of version 12\.0\.2/m,
    /^ {2}addressNft +answered, 3 rows$/m,
    /^ {2}addressNft +The explorer of chain 8453 answered something unexpected at items\.0\.id\.$\n^ +items\.id: .*expected string, received number \(3 times\)$/m,
    /^ {2}stats +The explorer of chain 8453 failed \(500, on its side of the hosted API\)\. Try again later\.$/m,
    /^ +items\.token\.exchange_rate is a number that can't be read \(3 times\)$/m,
    /^ +items\.token\.holders_count is in no row$/m,
    /^ {2}BLOCKSCOUT: expected the explorer of chain 8453 to answer stats, addressNft as it is read$/m,
    /^ {2}BLOCKSCOUT: expected answers of the explorer of chain 5, got: The explorer of chain 5 is not part of the hosted API \(404\): set the URL of an instance in BLOCKSCOUT\.$/m,
  ])
    expect(stderr).toMatch(line);
  expect(stderr).not.toContain(KEY);
});

test('the service that runs alone checks its explorers too', async () => {
  await using instance = await startBlockscout({ chains: [{ id: 1, contents: madeUp() }] });
  const env = { API_KEY: 'a-secret', BLOCKSCOUT: `1=${instance.url}` };
  const { code, stdout, stderr } = await run(['service', '--check'], env);
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining(`${TRIED.length} requests, which take no credits`),
  ]);
  expect(stdout).toMatch(/^API_KEY +set +environment$/m);
  expect(stdout).toMatch(/^The explorer of chain 1, an instance, is of version 12/m);
  expect(stdout).not.toContain('a-secret');
  const wrong = await run(['service', '--check'], { BLOCKSCOUT: '1' });
  expect([wrong.code, wrong.stdout]).toEqual([1, '']);
  expect(wrong.stderr).toMatch(/^ {2}API_KEY: expected /m);
});

test('a key that is missing is named once, for all chains of the hosted API, and the others are tried', async () => {
  await using hosted = await startHosted([
    { id: 1, version: '12.0.2' },
    { id: 10, version: '12.0.2' },
  ]);
  await using instance = await startBlockscout({ chains: [{ id: 100, contents: madeUp({}, 100) }] });
  const env = { BLOCKSCOUT: `1,10,100=${instance.url}`, BLOCKSCOUT_URL: hosted.url };
  const { code, stderr } = await run(['--check'], env);
  const named = 'BLOCKSCOUT_API_KEY: expected the key of the hosted API for the chains 1, 10, got none';
  expect(code).toBe(1);
  expect(stderr.startsWith(`${named}\n`)).toBe(true);
  expect(stderr.match(/^ {2}BLOCKSCOUT.*$/gm)).toEqual([`  ${named}`]);
  expect(instance.requests).toHaveLength(TRIED.length);
});

describe('nothing more is asked of an explorer', () => {
  const ask = async (explorer: Explorer, apiKey: string | null) => {
    const { id, baseUrl, isHosted } = explorer.chain();
    const { chains } = await checkExplorers({ apiKey, chains: [{ id, baseUrl, isHosted }] });
    return { end: chains[0]?.end, requests: explorer.requests.length };
  };

  test.each([
    ['a wrong key', 'proapi_wrong', 'does not accept the key'],
    ['no key', null, 'wants a key'],
  ])('for %s', async (_what, key, said) => {
    await using hosted = await startHosted([{ id: 1, version: '12.0.2' }]);
    expect(await ask(hosted, key)).toEqual({ end: expect.stringContaining(said), requests: 1 });
  });

  test('that is too old', async () => {
    await using old = await startHosted([{ id: 1, version: '10.2.0' }]);
    expect(await ask(old, KEY)).toEqual({ end: expect.stringContaining('has version 10'), requests: 1 });
  });

  test('without credits', async () => {
    await using poor = await startBlockscout({
      chains: [{ id: 1, contents: madeUp() }],
      hosted: { key: KEY, credits: 50, perSecond: 1_000 },
    });
    expect(await ask(poor, KEY)).toEqual({
      end: expect.stringContaining('no credits left'),
      requests: 2,
    });
  });
});

test('every operation that lookups use is tried, and no other', async () => {
  const folder = join(root, 'src/backend/explorer');
  const files = (await readdir(folder)).filter((name) => name.endsWith('.ts') && name !== 'check.ts');
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  const used = texts.flatMap((text) => [...text.matchAll(/OPERATIONS\.(\w+)/g)].map(([, name]) => name));
  expect(new Set(TRIED)).toEqual(new Set(['backendVersion', ...used]));
});
