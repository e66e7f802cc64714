import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { folderOf } from '../support/folder.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { byToken } from '../support/gateway/tokens.ts';

/** The console as a browser gets it: the page at `/`, and the files that it names. */

const AS_BROWSER = { headers: { accept: 'text/html,*/*;q=0.8' }, redirect: 'manual' } as const;

const settingsIn = (html: string) =>
  JSON.parse(/<script type="application\/json" id="settings">(.*?)<\/script>/.exec(html)?.[1] ?? '{}');

const urlsIn = (html: string): string[] =>
  [...html.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, url = '']) => url);

test('the page names its files by their contents, which a browser keeps for ever', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const page = await fetch(`${gateway.url}/`, AS_BROWSER);
  expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
  const html = await page.text();
  const urls = [...new Set(urlsIn(html))];
  expect(urls.length).toBeGreaterThan(20);
  for (const url of urls) {
    const file = await fetch(gateway.url + url);
    expect([url, file.status]).toEqual([url, 200]);
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(file.headers.get('content-type')).toBe(
      url.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8',
    );
  }
  const again = await (await fetch(`${gateway.url}/`, AS_BROWSER)).text();
  expect(again).toBe(html);
});

test('its scripts are the same with and without compression', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const html = await (await fetch(`${gateway.url}/`, AS_BROWSER)).text();
  for (const url of new Set(urlsIn(html).filter((name) => !name.endsWith('.css')))) {
    const plain = await fetch(gateway.url + url, { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    const compressed = await fetch(gateway.url + url, { headers: { 'accept-encoding': 'gzip' } });
    expect(compressed.headers.get('content-encoding')).toBe('gzip');
    expect(await compressed.text()).toBe(await plain.text());
  }
});

test('its policy allows scripts of the gateway alone, and pictures of other hosts unless they are off', async () => {
  for (const [env, pictures] of [
    [{}, "img-src 'self' data: https:"],
    [{ CONSOLE_IMAGES: 'off' }, "img-src 'self' data:"],
  ] as const) {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere, ...env });
    const { headers } = await fetch(`${gateway.url}/`, AS_BROWSER);
    const policy = headers.get('content-security-policy')?.split('; ') ?? [];
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(pictures);
    expect(policy.find((part) => part.startsWith('script-src'))).toMatch(
      /^script-src 'self' 'sha256-[\w+/]{43}='$/,
    );
    expect(policy).toContain("connect-src 'self'");
  }
});

test.each([
  [{ UPSTREAM_URL: nowhere }, 'open'],
  [{ UPSTREAM_URL: nowhere, UPSTREAM_API_KEY: undefined, UPSTREAM_API_KEY_HEADER: 'X-Other' }, 'key'],
  [{ UPSTREAM_URL: nowhere, ...byToken }, 'jwt'],
])('it says how clients authenticate, and no secret: %o', async (env, auth) => {
  await using gateway = await startGateway(env);
  const html = await (await fetch(`${gateway.url}/`, AS_BROWSER)).text();
  expect(settingsIn(html)).toMatchObject({ auth, trustedDocuments: false, graphiql: true, wallets: [] });
  if (auth === 'key') expect(settingsIn(html).keyHeader).toBe('X-Other');
  expect(html).not.toContain('held-by-the-gateway');
});

test('over the sandbox it has the sandbox’s wallets, and may load its pictures', async () => {
  await using gateway = await startGateway();
  const page = await fetch(`${gateway.url}/`, AS_BROWSER);
  const { wallets, sandboxOrigin } = settingsIn(await page.text());
  expect(wallets).toContainEqual(expect.objectContaining({ name: 'whale' }));
  expect(page.headers.get('content-security-policy')).toContain(
    `img-src 'self' data: https: ${sandboxOrigin}`,
  );
});

test('it is off in production and with trusted documents, unless CONSOLE=on', async () => {
  await using folder = await folderOf({ 'documents.json': '{}' });
  const closed = [{ NODE_ENV: 'production' }, { TRUSTED_DOCUMENTS: folder.path('documents.json') }];
  for (const env of closed) {
    await using without = await startGateway({ UPSTREAM_URL: nowhere, ...env });
    expect(await (await fetch(`${without.url}/`, AS_BROWSER)).text()).not.toContain('<script');
    expect((await fetch(`${without.url}/console/`)).status).toBe(404);
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere, CONSOLE: 'on', ...env });
    const html = await (await fetch(`${gateway.url}/`, AS_BROWSER)).text();
    expect(settingsIn(html)).toMatchObject({
      graphiql: false,
      trustedDocuments: 'TRUSTED_DOCUMENTS' in env,
    });
  }
});

test('another path below /console/ is 404, also a file of another release', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const html = await (await fetch(`${gateway.url}/`, AS_BROWSER)).text();
  const [known = ''] = urlsIn(html);
  const paths = [
    '/console/',
    '/console/app.ts',
    known.replace(/\/console\/[^/]+/, '/console/AAAAAAAAAAAAAAAA'),
    known.replace(/[^/]+$/, 'tsconfig.json'),
    known.replace(/[^/]+$/, '..%2f..%2fpackage.json'),
  ];
  for (const path of paths) expect([path, (await fetch(gateway.url + path)).status]).toEqual([path, 404]);
  expect((await fetch(gateway.url + known, { method: 'POST' })).status).toBe(404);
});

test('a compressed file is what its name says', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const html = await (await fetch(`${gateway.url}/`, AS_BROWSER)).text();
  const main = urlsIn(html).find((url) => url.endsWith('/app.ts')) ?? '';
  const { get } = await import('node:http');
  const body = await new Promise<Buffer>((resolve) => {
    get(gateway.url + main, { headers: { 'accept-encoding': 'br, gzip;q=0.5' } }, async (response) => {
      resolve(Buffer.concat(await response.toArray()));
    });
  });
  expect(gunzipSync(body).toString()).toContain("querySelector('#app')");
});
