import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { needBrowser, openPage, sharePage } from '../support/clients/browser.ts';
import { type Gateway, startGateway } from '../support/gateway/start.ts';
import { collectible, freshAddress, history, numbered } from '../support/upstream/builders.ts';
import { servingCollectibles, servingTransactions } from '../support/upstream/paging.ts';
import { type FakeWallets, startFakeWallets } from '../support/upstream/wallets.ts';

/** The view of a wallet, in a real browser: of the sandbox's wallets, while no block comes, and of some that a test makes. */

const WHALE = '0xc7928e7865fb684cc7629937d4064aa69989eab4';
const COLLECTOR = '0x0ac45263881f082a3b14f48ede96f5f9b2ec9b86';

let gateway: Gateway;
let fake: FakeWallets;
let overFake: Gateway;

beforeAll(async () => {
  gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' });
  fake = await startFakeWallets();
  overFake = await startGateway({ UPSTREAM_URL: fake.url, CACHE_HEAD_MS: '0', CACHE_STALE_MS: '0' });
});

const ofSandbox = sharePage(() => gateway.url);
const ofFake = sharePage(() => overFake.url);

afterAll(async () => {
  await ofSandbox.close();
  await ofFake.close();
  await gateway[Symbol.asyncDispose]();
  await overFake[Symbol.asyncDispose]();
  await fake[Symbol.asyncDispose]();
});

const PHONE = { width: 360, height: 800 };

const hashesOn = (page: Page): Promise<(string | null)[]> =>
  page.locator('[data-hash]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-hash')));

test('a wallet of 300 transactions is paged to its end, without a gap or a duplicate, while blocks grow', async (context) => {
  needBrowser(context);
  const address = freshAddress();
  const items = history(300, 3);
  const atStart = items.map(({ hash }) => hash);
  fake.transactions.set(address, (request) => {
    const answer = servingTransactions([...items])(request);
    items.unshift(numbered(items.length + 1, 3));
    return answer;
  });
  const visit = await ofFake.visit(`#/wallet/${address}?tab=transactions`);
  const { page } = visit;
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, 20_000);
      return (await hashesOn(page)).includes(atStart.at(-1) ?? '');
    })
    .toBe(true);
  const hashes = await hashesOn(page);
  expect(new Set(hashes).size).toBe(hashes.length);
  expect(hashes.filter((hash) => atStart.includes(hash ?? ''))).toEqual(atStart);
  expect([visit.strange, visit.faults]).toEqual([[], []]);
});

test('details of a transaction come on demand, and cost nothing', async (context) => {
  needBrowser(context);
  const { page } = await ofSandbox.visit(`#/wallet/${WHALE}?tab=transactions`);
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

/** The compute units in the page's header: what the visit has cost. */
const spentOn = async (page: Page): Promise<number> =>
  Number(
    /^([\d,]+) CU/
      .exec((await page.locator('.cost-meter').textContent())?.trim() ?? '')?.[1]
      ?.replaceAll(',', ''),
  );

test('details of a collectible cost nothing, and loading all of a list costs what its button says', async (context) => {
  needBrowser(context);
  const { page } = await ofSandbox.visit(`#/wallet/${COLLECTOR}?tab=collectibles`);
  await page
    .getByRole('button', { name: /^details/i })
    .nth(3)
    .click();
  const dialog = page.getByRole('dialog');
  const before = await spentOn(page);
  expect(before).toBeGreaterThan(0);
  await dialog.getByRole('heading', { name: /^spam score/i }).waitFor();
  await page.waitForLoadState('networkidle');
  expect(await spentOn(page)).toBe(before);
  await page.keyboard.press('Escape');
  for (const [tab, items] of [
    ['Collectibles', '[data-collectible]'],
    ['Transactions', '[data-hash]'],
  ] as const) {
    await page.goto(
      `${gateway.url}/#/wallet/${tab === 'Collectibles' ? COLLECTOR : WHALE}?tab=${tab.toLowerCase()}`,
    );
    await page.locator(items).first().waitFor();
    const button = page.getByRole('button', { name: /^load all/i });
    const price = Number(/about (\d+) CU/.exec((await button.textContent()) ?? '')?.[1]);
    await page.waitForLoadState('networkidle');
    const spent = await spentOn(page);
    await button.click();
    await expect.poll(() => page.locator(items).count()).toBe(1000);
    expect([tab, (await spentOn(page)) - spent]).toEqual([tab, price]);
  }
});

test('a chain is chosen by a click on its name, and the link shows the same tab, chains, spam and opened item elsewhere', async (context) => {
  needBrowser(context);
  const visit = await ofSandbox.visit(`#/wallet/${COLLECTOR}?tab=transactions`);
  const { page } = visit;
  await page.locator('[data-hash]').first().waitFor();
  await page.locator('summary', { hasText: 'Main chains' }).click();
  const menu = page.locator('.menu .options');
  await menu.getByText('base', { exact: true }).click();
  await menu.getByText('ethereum', { exact: true }).click();
  await page.locator('summary', { hasText: 'ethereum, base' }).waitFor();
  expect(new URL(page.url()).hash).toContain('chains=8453,1');
  await page.getByRole('tab', { name: /collectibles/i }).click();
  await page.getByRole('checkbox', { name: /spam/i }).check();
  await page
    .getByRole('button', { name: /^details/i })
    .nth(2)
    .click();
  const title = (await page.getByRole('dialog').getAttribute('aria-label')) ?? '';
  await using another = await openPage(page.url());
  await another.page.getByRole('dialog', { name: title, exact: true }).waitFor();
  await another.page.keyboard.press('Escape');
  expect(await another.page.getByRole('tab', { name: /collectibles/i }).getAttribute('aria-selected')).toBe(
    'true',
  );
  expect(await another.page.getByRole('checkbox', { name: /spam/i }).isChecked()).toBe(true);
  await another.page.locator('summary', { hasText: 'ethereum, base' }).waitFor();
  expect(await another.page.title()).toContain('collector');
  expect([visit.faults, another.faults]).toEqual([[], []]);
});

/** Resolves with a place once it has been the same for a while. */
const settled = async (read: () => Promise<number>): Promise<number> => {
  for (let [last, same] = [Number.NaN, 0]; ; ) {
    const now = await read();
    same = now === last ? same + 1 : 0;
    if (same === 5) return now;
    last = now;
    await delay(50);
  }
};

test('Back shows a list as it was left, without a request, and the navigation leads to the last wallet', async (context) => {
  needBrowser(context);
  const { page } = await ofSandbox.visit(`#/wallet/${WHALE}?tab=transactions&chains=1,8453`);
  const rows = page.locator('[data-hash]');
  const shownAt = (index: number) =>
    rows
      .nth(index)
      .evaluate((row) =>
        Math.round(
          (row as unknown as { getBoundingClientRect(): { top: number } }).getBoundingClientRect().top,
        ),
      );
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, 3000);
      return rows.count();
    })
    .toBeGreaterThanOrEqual(100);
  await page.waitForLoadState('networkidle');
  await rows.nth(60).scrollIntoViewIfNeeded();
  // Rows that come into view get their own height in place of an estimated one, a frame later.
  const [hashes, place, url] = [await hashesOn(page), await settled(() => shownAt(60)), page.url()];
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/graphql'))
      sent.push(/query (\w+)/.exec(request.postData() ?? '')?.[1] ?? '');
  });
  await page.getByRole('link', { name: 'Cost' }).click();
  await page.getByRole('heading', { name: 'What this visit has cost' }).waitFor();
  await page.goBack();
  await rows.first().waitFor();
  expect(await hashesOn(page)).toEqual(hashes);
  await expect.poll(async () => Math.abs((await shownAt(60)) - place)).toBeLessThan(3);
  expect(sent.filter((name) => name === 'WalletTransactions')).toEqual([]);
  await page.getByRole('link', { name: 'Cost' }).click();
  await page.getByRole('link', { name: 'Wallet', exact: true }).click();
  await rows.first().waitFor();
  expect(page.url()).toBe(url);
});

test('what is focused or jumped to stays below the header, and no ring frames the page', async (context) => {
  needBrowser(context);
  for (const width of [360, 1100]) {
    const { page } = await ofSandbox.visit(`#/wallet/${WHALE}?tab=transactions`, { width, height: 700 });
    await page.locator('[data-hash]').nth(20).waitFor();
    await page.getByRole('link', { name: 'Live', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Live events' }).waitFor();
    expect(await page.evaluate('getComputedStyle(document.querySelector("main")).outlineStyle')).toBe('none');
    await page.goBack();
    await page.locator('[data-hash]').nth(20).getByRole('button').last().focus();
    for (let step = 0; step < 40; step += 1) {
      await page.keyboard.press('Shift+Tab');
      const hidden = await page.evaluate(`(() => {
        const { activeElement } = document;
        const header = document.querySelector('.shell > header');
        if (!activeElement || header.contains(activeElement) || activeElement === document.body) return 0;
        return Math.round(header.getBoundingClientRect().bottom - activeElement.getBoundingClientRect().top);
      })()`);
      expect([width, step, Math.max(0, Number(hidden))]).toEqual([width, step, 0]);
    }
  }
});

test('a second wallet stands beside the first, under the same tab and chains, each with its whole address', async (context) => {
  needBrowser(context);
  const { page } = await ofSandbox.visit('#/', PHONE);
  await page
    .getByRole('combobox', { name: /address/i })
    .first()
    .fill('whale');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'whale', level: 2 }).waitFor();
  await page.goto(`${gateway.url}/#/wallet/${WHALE}?tab=transactions&chains=1,8453`);
  await page.locator('[data-hash]').first().waitFor();
  await page.getByRole('button', { name: 'Compare' }).click();
  const field = page.getByLabel('Address of the other wallet');
  await field.fill(WHALE);
  await page.keyboard.press('Enter');
  await page.getByText(/expected another wallet/i).waitFor();
  await field.fill('collector');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.locator('.wallet-head').count()).toBe(2);
  expect(new URL(page.url()).hash).toBe(`#/wallet/${WHALE},${COLLECTOR}?tab=transactions&chains=1,8453`);
  expect(await page.locator('.wallet-head .address').allTextContents()).toEqual([WHALE, COLLECTOR]);
  // Also where a window is narrow, nothing lies over an address.
  await page.setViewportSize({ width: 320, height: 800 });
  const close = page.getByRole('link', { name: 'Close whale' });
  const [button, address] = [await close.boundingBox(), await page.locator('.address').first().boundingBox()];
  expect((button?.y ?? 0) + (button?.height ?? 0)).toBeLessThanOrEqual(address?.y ?? 0);
  await close.click();
  await expect.poll(() => page.locator('.wallet-head').count()).toBe(1);
  expect(new URL(page.url()).hash).toBe(`#/wallet/${COLLECTOR}?tab=transactions&chains=1,8453`);
});

test('a wallet with a primary name shows it beside its address', async (context) => {
  needBrowser(context);
  await using named = await startGateway({ SANDBOX_BLOCK_MS: '3600000' }, { readsChains: true });
  await using opened = await openPage(named.url);
  await opened.page.goto(`${named.url}/#/wallet/${WHALE},${COLLECTOR}`);
  await expect
    .poll(() => opened.page.locator('.wallet-head .primary-name').allTextContents())
    .toEqual(['whale.sandbox.eth', 'collector.sandbox.eth']);
});

test('a wrong address is refused in words, and asks nothing', async (context) => {
  needBrowser(context);
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
  const visit = await ofSandbox.visit(`#/wallet/${COLLECTOR}?tab=collectibles`);
  const { page } = visit;
  const picture = page.locator('img').first();
  await picture.waitFor();
  await picture.scrollIntoViewIfNeeded();
  await expect
    .poll(() => picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth))
    .toBeGreaterThan(0);
  expect(visit.faults).toEqual([]);
});

test('a service that fails is said, and tried again', async (context) => {
  needBrowser(context);
  const address = freshAddress();
  fake.transactions.set(address, () => ({ status: 503, text: 'down' }));
  const { page } = await ofFake.visit(`#/wallet/${address}?tab=transactions`);
  await page.getByText('The service can’t be reached').waitFor();
  fake.transactions.set(address, servingTransactions(history(2)));
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => hashesOn(page)).toHaveLength(2);
});

test('what a contract or a token is called stays text', async (context) => {
  needBrowser(context);
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
  const visit = await ofFake.visit(`#/wallet/${address}?tab=transactions`, PHONE);
  const { page } = visit;
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
  expect(visit.faults).toEqual([]);
});

test('GraphiQL is one click away, with the operation that the page has just sent', async (context) => {
  needBrowser(context);
  const { page } = await ofSandbox.visit(`#/wallet/${WHALE}?tab=transactions`);
  await page.locator('[data-hash]').first().waitFor();
  await page.getByRole('link', { name: 'Cost' }).click();
  const row = page.getByRole('row', { name: /WalletTransactions/ }).first();
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
  const visit = await ofFake.visit(`#/wallet/${address}?tab=transactions`, PHONE);
  const { page } = visit;
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
  expect(visit.strange).toEqual(['https://pictures.invalid/a.png']);
  expect(visit.faults).toEqual([]);
});

test('a service that is slow is said to be', async (context) => {
  needBrowser(context);
  const address = freshAddress();
  const answer = Promise.withResolvers<void>();
  fake.transactions.set(address, async (request) => {
    await answer.promise;
    return servingTransactions(history(2))(request);
  });
  const { page } = await ofFake.visit(`#/wallet/${address}?tab=transactions`);
  await page.getByText('This takes longer than usual.').first().waitFor();
  answer.resolve();
  await expect.poll(() => hashesOn(page)).toHaveLength(2);
});
