import { expect, test } from 'vitest';
import { needBrowser, openPage } from '../../support/clients/browser.ts';
import { pathOf, startTrusting } from '../../support/gateway/trusted.ts';
import { addressOf, history } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

const WALLET = addressOf(0xcac4e);
const DOCUMENT = `query { wallet(address: "${WALLET}") { transactions(first: 50) { nodes { hash } } } }`;

test("a browser's cache keeps the answer to a GET, and asks whether it is still right", async (context) => {
  needBrowser(context);
  await using fake = await startFakeWallets();
  fake.transactions.set(WALLET, servingTransactions(history(100)));
  const env = { UPSTREAM_URL: fake.url, CACHE_HEAD_MS: '3600000', CONSOLE: 'on' };
  await using gateway = await startTrusting([DOCUMENT], env);
  await using opened = await openPage(gateway.url);
  const ask = (id: string, cache: 'default' | 'no-cache') =>
    opened.page.evaluate(
      async ([path, requestId, mode]) => {
        const headers = { accept: 'application/json', 'x-request-id': String(requestId) };
        const response = await fetch(String(path), { headers, cache: mode as RequestCache });
        return { status: response.status, text: await response.text() };
      },
      [pathOf(DOCUMENT), id, cache] as const,
    );
  const lineOf = (id: string): string | undefined =>
    gateway.logLines.find((line) => line.includes(`"requestId":"${id}"`));

  const first = await ask('first', 'default');
  expect(JSON.parse(first.text).data.wallet.transactions.nodes).toHaveLength(50);
  expect(lineOf('first')).toContain('"requests":1');
  expect(await ask('second', 'default')).toEqual(first);
  expect(lineOf('second')).toBeUndefined();
  expect(await ask('third', 'no-cache')).toEqual(first);
  expect(lineOf('third')).toContain('"unchanged":"pages"');
});
