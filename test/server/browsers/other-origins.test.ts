import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { needBrowser, openPage } from '../../support/clients/browser.ts';
import { bearer, byToken, tokenOf } from '../../support/gateway/tokens.ts';
import { pathOf, startTrusting } from '../../support/gateway/trusted.ts';
import { addressOf, history } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** docs/frontends.md, "From a page to the gateway": what a real browser does with a page of another origin. */

const WALLET = addressOf(0xc025);
const DOCUMENT = `query { wallet(address: "${WALLET}") { transactions(first: 5) { nodes { hash } } } }`;

type Init = {
  readonly headers: Record<string, string>;
  readonly cache?: RequestCache;
  readonly credentials?: RequestCredentials;
};

/** An empty page of an origin of its own. */
const startSite = async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>A site</title>');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

test('a page of an allowed origin sends credentials as headers and reads the tag; with cookies, or from elsewhere, it gets nothing', async (context) => {
  needBrowser(context);
  await using fake = await startFakeWallets();
  fake.transactions.set(WALLET, servingTransactions(history(10)));
  using site = await startSite();
  using stranger = await startSite();
  await using gateway = await startTrusting([DOCUMENT], {
    UPSTREAM_URL: fake.url,
    ALLOWED_ORIGINS: site.url,
    CACHE_HEAD_MS: '3600000',
    ...byToken,
  });
  const headers = { accept: 'application/json', ...bearer(await tokenOf()) };
  const ask = async (from: string, init: Init) => {
    await using opened = await openPage(from);
    return await opened.page.evaluate(
      async ([url, options]) => {
        try {
          const response = await fetch(url, options);
          const { headers: answered, status } = response;
          const shown = ['etag', 'x-request-id', 'vary'].map((name) => answered.get(name));
          return { status, shown, text: await response.text() };
        } catch (error) {
          return String(error);
        }
      },
      [`${gateway.url}${pathOf(DOCUMENT)}`, init] as const,
    );
  };

  const first = await ask(site.url, { headers, cache: 'no-store' });
  expect(first).toMatchObject({
    status: 200,
    // What is not exposed is not shown.
    shown: [expect.stringMatching(/^"/), expect.any(String), null],
    text: expect.stringContaining('"hash"'),
  });
  const [etag] = typeof first === 'string' ? [] : first.shown;
  const again = await ask(site.url, {
    headers: { ...headers, 'if-none-match': String(etag) },
    cache: 'no-store',
  });
  expect(again).toMatchObject({ status: 304, text: '' });

  const refused = 'TypeError: Failed to fetch';
  expect(await ask(site.url, { headers, credentials: 'include' })).toBe(refused);
  expect(await ask(stranger.url, { headers })).toBe(refused);
  expect(gateway.logLines.join('\n')).toContain(`"origin":"${stranger.url}"`);
});
