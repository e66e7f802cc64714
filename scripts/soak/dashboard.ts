import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Page } from 'playwright-core';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { openPage } from '../../test/support/clients/browser.ts';
import { startDashboard } from '../../test/support/clients/built-dashboard.ts';
import { folderOf } from '../../test/support/folder.ts';
import { freePort } from '../../test/support/free-port.ts';
import { spawnGateway } from '../../test/support/gateway/spawn.ts';

/**
 * Leaves examples/dashboard open in Chromium over the sandbox, with all that it shows live. At the end the
 * page must show what another one shows that has just been loaded.
 */

/**
 * Both pages show each block some seconds before the next one. In an hour the wallet has about 1,500 live transactions on all chains:
 * of more, the sandbox forgets the oldest, which a page that has lived still shows.
 */
const BLOCK_MS = 15_000;
const ALIKE_WITHIN_MS = 120_000;
const SAID_EVERY_MS = 60_000;

/** What a page shows: what identifies its rows, and the text of what it is worth. */
type Shown = {
  readonly transactions: readonly string[];
  readonly activity: readonly string[];
  readonly collectibles: readonly string[];
  readonly portfolio: string;
  readonly deliveries: readonly string[];
};

const LISTS = ['Transactions', 'Activity', 'Collectibles'] as const;

const regionOf = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

const moreOf = (page: Page, name: string) => regionOf(page, name).getByRole('button', { name: 'Load more' });

/** Read at one moment. */
const shownOn = (page: Page): Promise<Shown> =>
  page.evaluate(() => {
    const headings = [...document.querySelectorAll('h2')];
    const region = (name: string) =>
      headings.find(({ textContent }) => textContent === name)?.closest('section');
    const rows = (name: string, attribute: string) =>
      [...(region(name)?.querySelectorAll(`[${attribute}]`) ?? [])].map(
        (row) => `${row.getAttribute(attribute)} ${row.textContent}`,
      );
    return {
      transactions: rows('Transactions', 'data-hash'),
      activity: rows('Activity', 'data-hash'),
      collectibles: rows('Collectibles', 'title'),
      portfolio: region('Portfolio')?.textContent ?? '',
      deliveries: rows('Live events', 'data-delivery'),
    };
  });

/** How much of a list both have. A page that has just been loaded shows fewer deliveries, and a list may be longer by a part of a page. */
const common = (one: Shown, other: Shown): readonly [Shown, Shown] => {
  const cut = (shown: Shown): Shown => {
    const both = (name: Exclude<keyof Shown, 'portfolio'>) =>
      shown[name].slice(0, Math.min(one[name].length, other[name].length));
    return {
      transactions: both('transactions'),
      activity: both('activity'),
      collectibles: both('collectibles'),
      portfolio: shown.portfolio.replace(/\s+/g, ' '),
      deliveries: both('deliveries'),
    };
  };
  return [cut(one), cut(other)];
};

/** Loads as many rows as another page has. */
const loadRows = async (page: Page, wanted: Shown): Promise<void> => {
  for (const name of LISTS) {
    const key = name.toLowerCase() as Lowercase<typeof name>;
    const rows = async () => (await shownOn(page))[key].length;
    // While it loads, its button has another name.
    const isAll = () => regionOf(page, name).getByText('That is all.').isVisible();
    for (let before = await rows(); before < wanted[key].length && !(await isAll()); before = await rows()) {
      await moreOf(page, name).click();
      while ((await rows()) <= before && !(await isAll())) await sleep(50);
    }
  }
};

const heapMb = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const { memory } = performance as unknown as { memory?: { usedJSHeapSize: number } };
    return Math.round((memory?.usedJSHeapSize ?? 0) / 1e6);
  });

const costOf = async (page: Page): Promise<number> =>
  Number(await page.locator('[data-compute-units]').getAttribute('data-compute-units'));

/** What only one of two pages shows, or that both have another order. */
const difference = (lived: Shown[keyof Shown], fresh: Shown[keyof Shown]): string => {
  const [ours, theirs] = [[lived].flat(), [fresh].flat()];
  const only = [ours.filter((row) => !theirs.includes(row)), theirs.filter((row) => !ours.includes(row))];
  return `only the page that has lived shows ${JSON.stringify(only[0])}, only a fresh one ${JSON.stringify(only[1])}`;
};

type Options = {
  readonly seconds: number;
  readonly onProgress?: (line: string) => void;
};

/** Resolves with what was seen, and with what is wrong with it. */
export const liveDashboard = async ({ seconds, onProgress = () => {} }: Options) => {
  await using dashboard = await startDashboard();
  await using data = await folderOf({});
  const env = {
    PORT: String(await freePort()),
    DATA_DIR: data.path('data'),
    ALLOWED_ORIGINS: dashboard.url,
    SANDBOX_BLOCK_MS: String(BLOCK_MS),
  };
  await using gateway = await spawnGateway(env);
  await dashboard.build(gateway.url);
  const url = `${dashboard.url}/?address=${demoAddress('metronome')}&chainIds=1,8453`;
  await using lived = await openPage(url);
  for (const name of LISTS)
    await moreOf(lived.page, name).or(regionOf(lived.page, name).getByText('That is all.')).waitFor();
  for (const name of ['Transactions', 'Activity']) await moreOf(lived.page, name).click();
  await lived.page.locator('[data-connection="connected"]').waitFor();
  const first = await shownOn(lived.page);
  const seen = new Set(first.deliveries);
  const start = { heapMb: await heapMb(lived.page), computeUnits: await costOf(lived.page) };

  const until = Date.now() + seconds * 1000;
  let said = Date.now();
  while (Date.now() < until) {
    await sleep(Math.min(1000, Math.max(0, until - Date.now())));
    for (const delivery of (await shownOn(lived.page)).deliveries) seen.add(delivery);
    if (Date.now() - said < SAID_EVERY_MS) continue;
    said = Date.now();
    const now = await shownOn(lived.page);
    onProgress(
      `${seen.size} deliveries, ${now.transactions.length} transactions, ${now.activity.length} activities, ` +
        `${await costOf(lived.page)} CU, heap ${await heapMb(lived.page)} MB`,
    );
  }

  await using fresh = await openPage(url);
  for (const name of LISTS)
    await moreOf(fresh.page, name).or(regionOf(fresh.page, name).getByText('That is all.')).waitFor();
  await fresh.page.locator('[data-connection="connected"]').waitFor();
  await loadRows(fresh.page, await shownOn(lived.page));
  const giveUp = Date.now() + ALIKE_WITHIN_MS;
  let [one, other] = common(await shownOn(lived.page), await shownOn(fresh.page));
  while (!isDeepStrictEqual(one, other) && Date.now() < giveUp) {
    await sleep(250);
    [one, other] = common(...(await Promise.all([shownOn(lived.page), shownOn(fresh.page)])));
  }
  const differing = (Object.keys(one) as (keyof Shown)[]).filter(
    (name) => !isDeepStrictEqual(one[name], other[name]),
  );
  const alerts = await lived.page.getByRole('alert').count();
  const figures = {
    seconds,
    deliveries: seen.size,
    rows: {
      transactions: one.transactions.length,
      activity: one.activity.length,
      collectibles: one.collectibles.length,
    },
    newRows: one.transactions.indexOf(first.transactions[0] ?? ''),
    computeUnits: (await costOf(lived.page)) - start.computeUnits,
    heapMb: [start.heapMb, await heapMb(lived.page)],
    alerts,
  };
  const problems = [
    ...differing.map((name) => `${name}: ${difference(one[name], other[name])}`),
    ...lived.faults,
    ...(alerts > 0 ? [`${alerts} parts of the page show an error`] : []),
    ...(figures.newRows > 0 ? [] : ['no new transaction has come']),
  ];
  return { figures, problems };
};
