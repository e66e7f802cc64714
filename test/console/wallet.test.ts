import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { startGateway } from '../support/gateway/start.ts';
import { collectible, freshAddress, history, numbered } from '../support/upstream/builders.ts';
import { servingCollectibles, servingTransactions } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** The view of a wallet, in a real browser. */

const WHALE = '0xc7928e7865fb684cc7629937d4064aa69989eab4';
const COLLECTOR = '0x0ac45263881f082a3b14f48ede96f5f9b2ec9b86';

const hashesOn = (page: Page): Promise<(string | null)[]> =>
  page.locator('[data-hash]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-hash')));

test('a wallet of 300 transactions is paged to its end, without a gap or a duplicate, while blocks grow', async (context) => {
  needBrowser(context);
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({
    UPSTREAM_URL: fake.url,
    CACHE_HEAD_MS: '0',
    CACHE_STALE_MS: '0',
  });
  const address = freshAddress();
  const items = history(300, 3);
  const atStart = items.map(({ hash }) => hash);
  fake.transactions.set(address, (request) => {
    const answer = servingTransactions([...items])(request);
    items.unshift(numbered(items.length + 1, 3));
    return answer;
  });
  await using opened = await openPage(`${gateway.url}/#/wallet/${address}`);
  const { page } = opened;
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, 20_000);
      return (await hashesOn(page)).includes(atStart.at(-1) ?? '');
    })
    .toBe(true);
  const hashes = await hashesOn(page);
  expect(new Set(hashes).size).toBe(hashes.length);
  expect(hashes.filter((hash) => atStart.includes(hash ?? ''))).toEqual(atStart);
  expect([opened.strange, opened.faults]).toEqual([[], []]);
});

test('details of a transaction come on demand, and cost nothing', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' });
  await using opened = await openPage(`${gateway.url}/#/wallet/${WHALE}`);
  const { page } = opened;
  const row = page.locator('[data-hash]').nth(3);
  await row.getByRole('button', { name: /details/i }).click();
  await row.getByText(/nonce/i).first().waitFor();
  await page.getByRole('link', { name: 'Cost' }).click();
  const cells = await page
    .getByRole('row', { name: /TransactionDetails/ })
    .getByRole('cell')
    .allTextContents();
  expect(cells.slice(1, 4)).toEqual(['0', '0', '1']);
});

test('two wallets stand side by side, found by the sandbox’s names', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway();
  await using opened = await openPage(gateway.url);
  const { page } = opened;
  await page
    .getByRole('textbox', { name: /address/i })
    .or(page.getByRole('combobox', { name: /address/i }))
    .first()
    .fill('whale');
  await page.keyboard.press('Enter');
  await page.locator('[data-hash]').first().waitFor();
  await page.goto(`${gateway.url}/#/wallet/${WHALE},${COLLECTOR}`);
  await expect.poll(() => page.locator('section.panel').count()).toBe(2);
  expect(page.url()).toContain(WHALE);
});

test('a wrong address is refused in words, and asks nothing', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway();
  await using opened = await openPage(gateway.url);
  const { page } = opened;
  const field = page.getByRole('combobox').first();
  await field.fill('0x1234');
  await page.keyboard.press('Enter');
  await page.getByText(/expected .*40 hex digits.*got 0x and 4 hex digits/i).waitFor();
  expect(await field.getAttribute('aria-invalid')).toBe('true');
  expect(await page.getByRole('link', { name: /^0 CU/ }).count()).toBe(1);
});

test('collectibles are pictures, with spam only when it is asked for', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway();
  await using opened = await openPage(`${gateway.url}/#/wallet/${COLLECTOR}`);
  const { page } = opened;
  await page.getByRole('tab', { name: /collectibles/i }).click();
  const picture = page.locator('img').first();
  await picture.waitFor();
  await picture.scrollIntoViewIfNeeded();
  await expect
    .poll(() => picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth))
    .toBeGreaterThan(0);
  expect(opened.faults).toEqual([]);
});

test('a service that fails is said, and tried again', async (context) => {
  needBrowser(context);
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  fake.transactions.set(address, () => ({ status: 503, text: 'down' }));
  await using opened = await openPage(`${gateway.url}/#/wallet/${address}`);
  const { page } = opened;
  await page.getByText('The service can’t be reached').waitFor();
  fake.transactions.set(address, servingTransactions(history(2)));
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => hashesOn(page)).toHaveLength(2);
});

test('what a contract or a token is called stays text', async (context) => {
  needBrowser(context);
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  const payload = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>${'x'.repeat(10_000)}`;
  const [item] = history(1);
  fake.transactions.set(
    address,
    servingTransactions([
      {
        ...item,
        chain: payload,
        decoded: { name: payload, inputs: [{ name: payload, type: payload, value: payload }] },
      },
    ] as never),
  );
  await using opened = await openPage(`${gateway.url}/#/wallet/${address}`, {
    viewport: { width: 360, height: 800 },
  });
  const { page } = opened;
  await page.locator('[data-hash]').first().waitFor();
  await page
    .locator('[data-hash]')
    .first()
    .getByRole('button', { name: /details/i })
    .click();
  await page.getByText(/nonce/i).first().waitFor();
  expect(await page.title()).not.toBe('taken');
  expect(await page.locator('img').count()).toBe(0);
  const [width, shown] = (await page.evaluate(
    '[document.documentElement.scrollWidth, window.innerWidth]',
  )) as [number, number];
  expect(width).toBeLessThanOrEqual(shown);
  expect(opened.faults).toEqual([]);
});

test('GraphiQL is one click away, with the operation that the page has just sent', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' });
  await using opened = await openPage(`${gateway.url}/#/wallet/${WHALE}`);
  const { page } = opened;
  await page.locator('[data-hash]').first().waitFor();
  await page.getByRole('link', { name: 'Cost' }).click();
  const row = page.getByRole('row', { name: /WalletTransactions/ });
  const [graphiql] = await Promise.all([
    page.context().waitForEvent('page'),
    row.getByRole('button', { name: /GraphiQL/ }).click(),
  ]);
  await graphiql.getByRole('tab', { name: /WalletTransactions/ }).waitFor();
  await graphiql.locator('.graphiql-execute-button').click();
  const answer = graphiql.locator('.graphiql-response');
  await expect.poll(async () => (await answer.textContent()) ?? '').toContain('"wallet"');
});

test('a picture that does not load is drawn, and names of tokens stay text', async (context) => {
  needBrowser(context);
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  const payload = `<img src=x onerror="document.title='taken'">${'x'.repeat(10_000)}`;
  const pictures = [
    'https://pictures.invalid/a.png',
    'http://pictures.invalid/a.png',
    'javascript:alert(1)',
    null,
  ];
  const items = pictures.map((image_url, number) =>
    collectible({ token_id: String(number), name: payload, symbol: payload, image_url }),
  );
  fake.collectibles.set(address, servingCollectibles(items));
  await using opened = await openPage(`${gateway.url}/#/wallet/${address}`, {
    viewport: { width: 360, height: 800 },
  });
  const { page } = opened;
  await page.getByRole('tab', { name: /collectibles/i }).click();
  await expect.poll(() => page.locator('[data-collectible] .picture > svg').count()).toBe(pictures.length);
  await page
    .locator('[data-collectible] button', { hasText: /details/i })
    .first()
    .click();
  await page
    .getByRole('dialog')
    .getByText(/spam score/i)
    .first()
    .waitFor();
  expect(await page.title()).not.toBe('taken');
  const [width, shown] = (await page.evaluate(
    '[document.documentElement.scrollWidth, window.innerWidth]',
  )) as [number, number];
  expect(width).toBeLessThanOrEqual(shown);
  expect(opened.strange).toEqual(['https://pictures.invalid/a.png']);
  expect(opened.faults).toEqual([]);
});

test('a service that is slow is said to be', async (context) => {
  needBrowser(context);
  await using fake = await startFakeWallets();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  const address = freshAddress();
  const answer = Promise.withResolvers<void>();
  fake.transactions.set(address, async (request) => {
    await answer.promise;
    return servingTransactions(history(2))(request);
  });
  await using opened = await openPage(`${gateway.url}/#/wallet/${address}`);
  const { page } = opened;
  await page.getByText('This takes longer than usual.').first().waitFor();
  answer.resolve();
  await expect.poll(() => hashesOn(page)).toHaveLength(2);
});
