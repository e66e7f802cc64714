import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { needBrowser, openPage, sharePage } from '../support/clients/browser.ts';
import { activity, balanceChange, deliver, deliveriesOf } from '../support/clients/deliver.ts';
import { spawnGateway } from '../support/gateway/spawn.ts';
import { type Gateway, nowhere, startGateway } from '../support/gateway/start.ts';
import { byToken, tokenOf } from '../support/gateway/tokens.ts';
import { freshAddress } from '../support/upstream/builders.ts';

/** The view of live events, in a real browser. */

const METRONOME = '0x855edb1968ddbd5b29bc4df20dc38ae071149075';

/** Of the tests that look at one wallet's events: each has another wallet, so their events do not mix. */
let gateway: Gateway;
let deliveryUrl: string;

beforeAll(async () => {
  gateway = await startGateway({ UPSTREAM_URL: nowhere });
  ({ deliveryUrl } = await deliveriesOf(gateway.url));
});

const shared = sharePage(() => gateway.url);

afterAll(async () => {
  await shared.close();
  await gateway[Symbol.asyncDispose]();
});

const deliverActivity = async (number: number, address: string): Promise<void> =>
  expect(await deliver(deliveryUrl, { type: 'activities', body: activity(number, address) })).toBe(200);

/** The numbers of the activities on the page, newest first: each is its transaction's hash. */
const numbersOn = (page: Page): Promise<number[]> =>
  page
    .locator('[data-transaction^="0x"]')
    .evaluateAll((cards) => cards.map((card) => card.getAttribute('data-transaction')))
    .then((hashes) => hashes.map(Number));

const isLive = (page: Page): Promise<void> => page.locator('[data-connection="live"]').waitFor();

test('an event appears when it is delivered', async (context) => {
  needBrowser(context);
  const address = freshAddress();
  const visit = await shared.visit(`#/live?address=${address}`);
  const { page } = visit;
  await page.getByText('No event has arrived yet').waitFor();
  await isLive(page);
  await deliverActivity(1, address);
  await expect.poll(() => numbersOn(page)).toEqual([1]);
  await deliverActivity(2, address);
  await expect.poll(() => numbersOn(page)).toEqual([2, 1]);
  await page.getByText('2 arrived since this view was opened').waitFor();
  // A screen reader is told in a sentence, some seconds later.
  await page
    .getByRole('status')
    .filter({ hasText: /2 new transactions|1 new transaction/ })
    .waitFor();
  expect([visit.strange, visit.faults]).toEqual([[], []]);
});

test('of a gateway that is killed and started again, the list is whole: each event once', async (context) => {
  needBrowser(context);
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-console-'));
  const env = { UPSTREAM_URL: nowhere, UPSTREAM_API_KEY: 'unused', DATA_DIR: dataDir };
  await using first = await spawnGateway(env);
  const { deliveryUrl: url } = await deliveriesOf(first.url);
  try {
    await using opened = await openPage(`${first.url}/#/live`);
    const { page } = opened;
    await isLive(page);
    for (let number = 1; number <= 20; number += 1)
      expect(await deliver(url, { type: 'activities', body: activity(number) })).toBe(200);
    await expect.poll(() => numbersOn(page)).toHaveLength(20);
    await first.end('SIGKILL');
    await page.locator('[data-connection="waiting"]').waitFor();
    await using second = await spawnGateway({ ...env, PORT: new URL(first.url).port });
    expect(second.url).toBe(first.url);
    for (let number = 21; number <= 40; number += 1)
      expect(await deliver(url, { type: 'activities', body: activity(number) })).toBe(200);
    await expect.poll(() => numbersOn(page)).toEqual(Array.from({ length: 40 }, (_, index) => 40 - index));
    await isLive(page);
    expect(await page.locator('.gap').count()).toBe(0);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

test('the events of one wallet, or of one type, are those alone', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { deliveryUrl: url } = await deliveriesOf(gateway.url);
  const other = '0x00000000000000000000000000000000000000ab';
  await deliver(url, { type: 'activities', body: activity(1) });
  await deliver(url, { type: 'activities', body: activity(2, other) });
  await using opened = await openPage(`${gateway.url}/#/live?address=${other}`);
  const { page } = opened;
  await expect.poll(() => numbersOn(page)).toEqual([2]);
  await isLive(page);
  await deliver(url, { type: 'activities', body: activity(3) });
  await deliver(url, { type: 'activities', body: activity(4, other) });
  await expect.poll(() => numbersOn(page)).toEqual([4, 2]);
  await page.goto(`${gateway.url}/#/live`);
  await expect.poll(() => numbersOn(page)).toEqual([4, 3, 2, 1]);
  await page.getByRole('checkbox', { name: 'balances' }).check();
  await page.getByText('No event has arrived yet').waitFor();
});

test('each transaction is one card: its events once, and those of the chosen wallet alone', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { deliveryUrl: url } = await deliveriesOf(gateway.url);
  const [one, other] = [
    '0x00000000000000000000000000000000000000a1',
    '0x00000000000000000000000000000000000000a2',
  ];
  const [first] = balanceChange(one, '0x00000000000000000000000000000000000000cc', '5000000').balance_changes;
  const [second] = balanceChange(
    other,
    '0x00000000000000000000000000000000000000cc',
    '7000000',
  ).balance_changes;
  // Two webhooks tell of the first change, and one body has a change of each wallet.
  const bodies = [{ balance_changes: [first] }, { balance_changes: [first, second] }];
  for (const [index, body] of bodies.entries()) {
    const webhookId = `019a7b1c-5c00-7d1e-8a30-6b1f0c2e9d4${index}`;
    expect(await deliver(url, { type: 'balances', webhookId, chainId: 1, body })).toBe(200);
  }
  await using opened = await openPage(`${gateway.url}/#/live`);
  const { page } = opened;
  const events = page.locator('[data-transaction] .event');
  await expect.poll(() => events.count()).toBe(2);
  expect(await page.locator('[data-transaction]').count()).toBe(1);
  await page.goto(`${gateway.url}/#/live?address=${other}`);
  await expect.poll(() => events.count()).toBe(1);
  expect(await events.textContent()).toContain('7 USDC');
});

test('the address of the wallet whose events are shown can be read whole', async (context) => {
  needBrowser(context);
  const address = freshAddress();
  for (const width of [1280, 1100, 800]) {
    const { page } = await shared.visit(`#/live?address=${address}`, { width, height: 720 });
    const field = page.getByLabel('Wallet', { exact: true });
    await expect.poll(() => field.inputValue()).toBe(address);
    const cut = await field.evaluate((element) => element.scrollWidth - element.clientWidth);
    expect([width, cut]).toEqual([width, 0]);
  }
});

test('an approval of nothing is told as a revocation', async (context) => {
  needBrowser(context);
  const address = freshAddress();
  const [item] = activity(1, address).activities;
  const body = {
    activities: [{ ...item, type: 'approve', value: '0', spender: address, token_symbol: 'USDC' }],
  };
  expect(await deliver(deliveryUrl, { type: 'activities', body })).toBe(200);
  const { page } = await shared.visit(`#/live?address=${address}`);
  await page.locator('.event', { hasText: /revoked the allowance of .* for / }).waitFor();
});

test('an amount of many digits is shortened, and is exact when it is pointed at', async (context) => {
  needBrowser(context);
  const address = freshAddress();
  const [item] = activity(1, address).activities;
  const body = { activities: [{ ...item, value: `123${'4'.repeat(40)}` }] };
  expect(await deliver(deliveryUrl, { type: 'activities', body })).toBe(200);
  const { page } = await shared.visit(`#/live?address=${address}`);
  const amount = page.locator('.event [title]', { hasText: '1.23 × 10⁴² units' });
  await amount.waitFor();
  expect((await amount.getAttribute('title'))?.replaceAll(',', '')).toContain(`123${'4'.repeat(40)} units`);
});

test('the chart counts what the log has, also after another view was open', async (context) => {
  needBrowser(context);
  const address = freshAddress();
  for (let number = 1; number <= 60; number += 1) await deliverActivity(number, address);
  const { page } = await shared.visit(`#/live?address=${address}&span=7d`);
  const chart = page.getByRole('slider', { name: 'Deliveries, a bar for each 3 hours' });
  // At the border of two bars the deliveries are in both.
  const sum = async (): Promise<number> => {
    await chart.press('End');
    const last = await chart.getAttribute('aria-valuetext');
    await chart.press('ArrowLeft');
    const texts = [last, await chart.getAttribute('aria-valuetext')];
    return texts.reduce((all, text) => all + Number(/: (\d+) deliveries/.exec(text ?? '')?.[1]), 0);
  };
  await expect.poll(sum).toBe(60);
  await page.getByRole('link', { name: 'Cost' }).click();
  await page.getByRole('heading', { name: 'What this visit has cost' }).waitFor();
  await page.goBack();
  await expect.poll(sum).toBe(60);
  await deliverActivity(61, address);
  await expect.poll(sum).toBe(61);
});

test('a paused list stays as it is, and older events follow as far as the log goes', async (context) => {
  needBrowser(context);
  const address = freshAddress();
  for (let number = 1; number <= 120; number += 1) await deliverActivity(number, address);
  const { page } = await shared.visit(`#/live?address=${address}`);
  await isLive(page);
  await page.getByRole('button', { name: 'Pause' }).click();
  for (const number of [121, 122]) await deliverActivity(number, address);
  await page.getByRole('button', { name: '2 new' }).waitFor();
  expect((await numbersOn(page))[0]).toBe(120);
  await page.getByRole('button', { name: '2 new' }).click();
  await expect.poll(async () => (await numbersOn(page))[0]).toBe(122);
  await expect
    .poll(async () => {
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      return numbersOn(page);
    })
    .toEqual(Array.from({ length: 122 }, (_, index) => 122 - index));
  await page.getByText('122 deliveries: all of them.').waitFor();
});

test('a link that asks for something that can’t exist says what is wrong', async (context) => {
  needBrowser(context);
  const { page } = await shared.visit('#/live?address=0x12');
  await page.getByText('Expected an address, 0x and 40 hex digits, got 0x and 2 hex digits.').waitFor();
  await page.getByRole('link', { name: 'the events of all wallets' }).click();
  await isLive(page);
  await page.goto(`${gateway.url}/#/live?types=BALANCES,NONE`);
  await page.getByText('got "NONE"').waitFor();
  await page.goto(`${gateway.url}/#/wallet/0x123`);
  await page.getByText('got 0x and 3 hex digits').waitFor();
});

test('hundreds of events in a few seconds leave the page responsive', async (context) => {
  needBrowser(context);
  const address = freshAddress();
  const { page } = await shared.visit(`#/live?address=${address}`);
  await isLive(page);
  for (let number = 1; number <= 300; number += 1) await deliverActivity(number, address);
  await page.getByText('300 arrived since this view was opened').waitFor();
  const numbers = await numbersOn(page);
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => 300 - index));
  // The list is bounded, and another view is one click away.
  expect(numbers.length).toBeLessThanOrEqual(200);
  await page.getByRole('link', { name: 'Cost' }).click();
  await page.getByRole('heading', { name: 'What this visit has cost' }).waitFor();
});

test('a token without the webhooks’ scope watches a wallet, and sees its next event under its name', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ ...byToken, SANDBOX_BLOCK_MS: '300' });
  await using opened = await openPage(`${gateway.url}/#/wallet/${METRONOME}?tab=transactions`);
  const { page } = opened;
  await page.getByLabel('Token', { exact: true }).fill(await tokenOf({ scope: 'wallets deliveries watch' }));
  await page.keyboard.press('Enter');
  await page.locator('[data-hash]').first().waitFor();
  await page.getByRole('button', { name: /^watch/i }).click();
  await page.getByRole('button', { name: /stop/i }).waitFor();
  await page.goto(`${gateway.url}/#/live?address=${METRONOME}`);
  await page.locator('[data-transaction] strong', { hasText: 'metronome' }).first().waitFor();
  await page.goto(`${gateway.url}/#/webhooks`);
  await page.getByText(/scope/i).first().waitFor();
});

test('credentials that the gateway refuses are asked for again, with its sentence', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ ...byToken, UPSTREAM_URL: nowhere });
  await using opened = await openPage(gateway.url);
  const { page } = opened;
  await page.getByLabel('Token', { exact: true }).fill(`${await tokenOf()}x`);
  await page.keyboard.press('Enter');
  await page.goto(`${gateway.url}/#/live`);
  await page.getByRole('alert').first().waitFor();
  expect(await page.evaluate('sessionStorage.length')).toBe(0);
});

test('with trusted documents the console sends its own, as `npm run trust` writes them', async (context) => {
  needBrowser(context);
  const folder = await mkdtemp(join(tmpdir(), 'gateway-console-trusted-'));
  try {
    const documents = join(folder, 'documents.json');
    const cli = ['src/cli/persist-documents.ts', 'src/console/operations', '--out', documents];
    await promisify(execFile)(process.execPath, cli, { cwd: join(import.meta.dirname, '../..') });
    await using gateway = await startGateway({
      ...{ NODE_ENV: 'production', SANDBOX: 'on', CONSOLE: 'on', SANDBOX_BLOCK_MS: '300' },
      TRUSTED_DOCUMENTS: documents,
    });
    await using opened = await openPage(`${gateway.url}/#/wallet/${METRONOME}?tab=transactions`);
    const { page } = opened;
    await page.locator('[data-hash]').first().waitFor();
    expect(await page.getByRole('link', { name: 'API' }).count()).toBe(0);
    await page.goto(`${gateway.url}/#/live`);
    await page.locator('.delivery.is-new').first().waitFor();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('a subscription that ends says why, and begins again on a click', async (context) => {
  needBrowser(context);
  const address = freshAddress();
  await using opened = await openPage(`${gateway.url}/#/cost`);
  const { page } = opened;
  let refusing = true;
  await page.routeWebSocket(/graphql/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((message) => {
      const { type, id } = JSON.parse(String(message));
      if (type !== 'subscribe' || !refusing) return server.send(message);
      const payload = [{ message: 'Too many at once.', extensions: { code: 'RATE_LIMITED' } }];
      socket.send(JSON.stringify({ id, type: 'error', payload }));
    });
  });
  await page.goto(`${gateway.url}/#/live?address=${address}`);
  await page.getByText('Too many at once.').waitFor();
  await page.locator('[data-connection="ended"]').waitFor();
  refusing = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await isLive(page);
  await deliverActivity(1, address);
  await expect.poll(() => numbersOn(page)).toEqual([1]);
});

test('an answer to the credentials of before does not sign out those of now', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ ...byToken, SANDBOX_BLOCK_MS: '3600000' });
  await using opened = await openPage(`${gateway.url}/#/wallet/${METRONOME}?tab=transactions`);
  const { page } = opened;
  const [old, present] = [await tokenOf({ sub: 'old' }), await tokenOf({ sub: 'present' })];
  const late = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  await page.route('**/graphql', async (route) => {
    const request = route.request();
    const isOld = request.headers().authorization?.endsWith(old) ?? false;
    if (!isOld || !request.postData()?.includes('WatchedWallets')) return route.continue();
    await late.promise;
    const errors = [{ message: 'Refused.', extensions: { code: 'UNAUTHENTICATED' } }];
    await route.fulfill({ status: 401, json: { errors } });
    answered.resolve();
  });
  for (const token of [old, present]) {
    await page.getByLabel('Token', { exact: true }).fill(token);
    await page.keyboard.press('Enter');
    await page.locator('[data-hash]').first().waitFor();
    if (token === old) await page.getByRole('button', { name: /sign out/i }).click();
  }
  late.resolve();
  await answered.promise;
  await page.getByRole('link', { name: 'Cost' }).click();
  await page.getByRole('row', { name: /WalletTransactions/ }).waitFor();
  expect(await page.getByLabel('Token', { exact: true }).count()).toBe(0);
});
