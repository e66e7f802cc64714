import { createServer } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import * as inNode from 'evm-graphql-gateway/client';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { activity, deliver, deliveriesOf } from '../support/clients/deliver.ts';
import { eventually } from '../support/clients/subscribe.ts';
import { folderOf } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { root } from '../support/pages.ts';

/** What docs/client.md says of the client package as a whole. */

const ENTRY = join(root, 'src/client/index.ts');

/** What a bundler makes of a page that imports these. */
const bundle = async (names: string) => {
  const page = `export ${names} from ${JSON.stringify(ENTRY)};`;
  const built = await rolldown({
    input: 'page',
    platform: 'browser',
    tsconfig: false,
    treeshake: { moduleSideEffects: false },
    plugins: [
      {
        name: 'page',
        resolveId: (id) => (id === 'page' ? id : null),
        load: (id) => (id === 'page' ? page : null),
      },
    ],
  });
  const { output } = await built.generate({ format: 'esm', minify: true });
  await built.close();
  const [{ code, imports, dynamicImports }] = output;
  return { code, gzip: gzipSync(code, { level: 9 }).length, imports: [...imports, ...dynamicImports] };
};

test('all of it is at most 10 KB compressed, imports nothing, and a page gets what it uses', async () => {
  const all = await bundle('*');
  expect(all.imports).toEqual([]);
  expect(all.gzip).toBeGreaterThan(3000);
  expect(all.gzip).toBeLessThanOrEqual(10_000);
  expect((await bundle('{ formatAmount }')).gzip).toBeLessThan(600);
  expect((await bundle('{ reconnecting, resuming }')).gzip).toBeLessThan(600);
  expect((await bundle('{ apolloCacheOptions }')).gzip).toBeLessThan(1200);
});

const DELIVERIES = 'subscription ($after: String!) { deliveries(after: $after) { cursor node { payload } } }';

/** A function of a page: it is sent there as text. Adds to the list the blocks of activities that a stream delivers. */
const listen = (
  client: Pick<typeof inNode, 'createEventStreams'>,
  [url, query, after]: readonly string[],
  blocks: number[],
) =>
  client.createEventStreams({ url: `${url}/graphql` }).subscribe<{
    deliveries: { node: { payload: { activities: { block_number: number }[] } } };
  }>(
    { query: query ?? '', variables: { after } },
    {
      next: ({ data }) => blocks.push(data?.deliveries.node.payload.activities[0]?.block_number ?? 0),
      error: () => blocks.push(-1),
      complete: () => blocks.push(-2),
    },
  );

test('event streams resume in Chromium and in Node alike, over a restart of the gateway', async (context) => {
  needBrowser(context);
  const { code } = await bundle('*');
  const files = createServer(({ url }, response) => {
    response.writeHead(200, { 'content-type': url === '/client.js' ? 'text/javascript' : 'text/html' });
    response.end(url === '/client.js' ? code : '<!doctype html><title>A page</title>');
  });
  const [filesPort, port] = [await freePort(), String(await freePort())];
  files.listen(filesPort, '127.0.0.1');
  const origin = `http://127.0.0.1:${filesPort}`;
  await using data = await folderOf({});
  const env = { UPSTREAM_URL: nowhere, ALLOWED_ORIGINS: origin, PORT: port, DATA_DIR: data.path('data') };
  try {
    await using first = await startGateway(env);
    const { deliveryUrl, head } = await deliveriesOf(first.url);
    const place = [first.url, DELIVERIES, head] as const;
    const blocks: number[] = [];
    const stop = listen(inNode, place, blocks);
    await using opened = await openPage(origin);
    const { page } = opened;
    await page.evaluate(
      async ([source, from]) => {
        const client = await import('/client.js' as string);
        const shown: number[] = [];
        Object.assign(globalThis, { shown });
        new Function(`return (${source})`)()(client, from, shown);
      },
      [String(listen), place] as const,
    );
    const inPage = () => page.evaluate(() => (globalThis as unknown as { shown: number[] }).shown);
    const post = async (number: number) =>
      expect(await deliver(deliveryUrl, { type: 'activities', body: activity(number) })).toBe(200);
    await post(1);
    await post(2);
    await eventually(() => blocks.length >= 2);
    await expect.poll(inPage).toEqual([1, 2]);

    await first.stop();
    await using second = await startGateway(env);
    expect(second.url).toBe(first.url);
    await post(3);
    await eventually(() => blocks.length >= 3);
    expect(blocks).toEqual([1, 2, 3]);
    await expect.poll(inPage).toEqual([1, 2, 3]);
    expect(opened.faults).toEqual([]);
    stop();
  } finally {
    files.closeAllConnections();
    files.close();
  }
});

test('what ends a stream is an error with its code: a cursor of another log, a document that is none', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { createEventStreams, codesOf } = inNode;
  const streams = createEventStreams({ url: `${gateway.url}/graphql` });
  const codeOf = (query: string, after: string) =>
    new Promise((resolve) => {
      const fail = () => resolve('complete');
      streams.subscribe(
        { query, variables: { after } },
        { next: fail, error: (reason) => resolve(codesOf(reason)[0]), complete: fail },
      );
    });
  expect(await codeOf(DELIVERIES, 'no cursor')).toBe('INVALID_CURSOR');
  expect(await codeOf('subscription { nothing }', '')).toBe('GRAPHQL_VALIDATION_FAILED');
});

test.each([
  ['no error', undefined, []],
  ['null', null, []],
  [
    'errors of an answer',
    [{ extensions: { code: 'CURSOR_EXPIRED' } }, {}],
    ['CURSOR_EXPIRED', 'INTERNAL_SERVER_ERROR'],
  ],
  [
    "Apollo Client's",
    { name: 'CombinedGraphQLErrors', errors: [{ extensions: { code: 'FORBIDDEN' } }] },
    ['FORBIDDEN'],
  ],
  ["urql's", { graphQLErrors: [{ extensions: { code: 'FORBIDDEN' } }] }, ['FORBIDDEN']],
  ["urql's without an answer", { networkError: new Error('refused'), graphQLErrors: [] }, ['UNREACHABLE']],
  ["an error of graphql's", { extensions: { code: 'RATE_LIMITED' } }, ['RATE_LIMITED']],
  ['a failed fetch', new TypeError('fetch failed'), ['UNREACHABLE']],
  ['a text', 'gone', ['UNREACHABLE']],
])('codesOf reads the codes of %s', (_name, reason, codes) => {
  expect(inNode.codesOf(reason)).toEqual(codes);
});
