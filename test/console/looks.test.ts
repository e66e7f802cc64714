import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { DEMO_WEBHOOKS } from '../../src/backend/sandbox/sandbox.ts';
import { auditControls } from '../support/clients/audit-controls.ts';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { type Gateway, startGateway } from '../support/gateway/start.ts';

/**
 * Each view in light and dark: what axe finds, whether its controls can be read in every state, whether it fits a small window, and its picture. PICTURES=docs/images writes
 * the pictures.
 */

const WHALE = '0xc7928e7865fb684cc7629937d4064aa69989eab4';
const SWAPPER = '0x3754a763029f7ce2b064d90049d057d69ac794f6';
const APPROVER = '0xb3cf83bcc8153cb9bd8aba4d18e514903bbe4f8d';
const THIN = '0xcb7ace522be1c8d259cebcbc62d33b8026769aeb';
const DEFI = '0x1159de7cb44a331b4e0acf468f83527f210227f8';
const COLLECTOR = '0x0ac45263881f082a3b14f48ede96f5f9b2ec9b86';

type View = { readonly name: string; readonly hash: string; readonly ready: (page: Page) => Promise<void> };

const VIEWS: readonly View[] = [
  { name: 'start', hash: '#/', ready: (page) => page.getByText('metronome').first().waitFor() },
  {
    name: 'wallet',
    hash: `#/wallet/${WHALE}?tab=activity`,
    ready: (page) => page.locator('[data-activity]').nth(10).waitFor(),
  },
  {
    name: 'transactions',
    hash: `#/wallet/${WHALE}?tab=transactions`,
    ready: (page) => page.locator('[data-hash]').nth(10).waitFor(),
  },
  {
    name: 'transaction',
    hash: `#/wallet/${SWAPPER}?tab=activity`,
    async ready(page) {
      await page
        .getByRole('button', { name: /^What happened/ })
        .first()
        .click();
      await page.getByRole('button', { name: /^Read its call/ }).click();
      await page.getByRole('heading', { name: /^Events/ }).waitFor();
    },
  },
  {
    name: 'shared',
    hash: `#/wallet/${SWAPPER}?tab=activity`,
    async ready(page) {
      await page.locator('.act-foot').getByRole('link', { name: /^0x/ }).first().click();
      await page.getByRole('button', { name: /^Read its call/ }).click();
      await page.getByRole('figure', { name: 'Who gave what to whom' }).waitFor();
    },
  },
  {
    name: 'approvals',
    hash: `#/wallet/${APPROVER}?tab=approvals`,
    async ready(page) {
      await page.getByText(/at risk/).waitFor();
      await page.getByText('The call that ends it').first().click();
    },
  },
  {
    name: 'export',
    hash: `#/wallet/${WHALE}?tab=activity`,
    async ready(page) {
      await page.getByRole('button', { name: 'Export' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'CSV' }).waitFor();
    },
  },
  {
    name: 'tokens',
    hash: `#/wallet/${THIN}?tab=tokens`,
    ready: (page) => page.locator('[data-token]').nth(4).waitFor(),
  },
  {
    name: 'offer',
    hash: `#/wallet/${DEFI}?tab=defi`,
    ready: (page) => page.getByRole('button', { name: /^Read DeFi/ }).waitFor(),
  },
  {
    name: 'defi',
    hash: `#/wallet/${DEFI}?tab=defi`,
    async ready(page) {
      await page.getByRole('button', { name: /^Read DeFi/ }).click();
      await page.locator('[data-position]').nth(4).waitFor();
    },
  },
  {
    name: 'collectibles',
    hash: `#/wallet/${COLLECTOR}`,
    async ready(page) {
      await page.getByRole('tab', { name: /collectibles/i }).click();
      await page.locator('[data-collectible] img').nth(8).waitFor();
      const areLoaded = `[...document.querySelectorAll('[data-collectible] img')].slice(0, 9).every(({ complete }) => complete)`;
      await expect.poll(() => page.evaluate(areLoaded), { timeout: 10_000 }).toBe(true);
    },
  },
  {
    name: 'collectible',
    hash: `#/wallet/${COLLECTOR}?tab=collectibles`,
    async ready(page) {
      await page.locator('[data-collectible] button').first().click();
      await page.getByRole('heading', { name: /^spam score/i }).waitFor();
    },
  },
  {
    name: 'token',
    hash: '#/token/1:native',
    async ready(page) {
      await page.getByRole('button', { name: /24 hours/ }).click();
      await page.getByRole('slider', { name: /price/i }).waitFor();
    },
  },
  {
    name: 'live',
    hash: '#/live',
    async ready(page) {
      await page.locator('.delivery.is-new').nth(5).waitFor();
    },
  },
  {
    name: 'webhooks',
    hash: `#/webhooks?open=${DEMO_WEBHOOKS[1].id}`,
    ready: (page) => page.locator('.attempt').nth(4).waitFor(),
  },
  {
    name: 'form',
    hash: '#/webhooks',
    async ready(page) {
      await page.getByRole('button', { name: 'New webhook' }).click();
      await page.getByRole('dialog').getByRole('textbox').first().waitFor();
    },
  },
  { name: 'cost', hash: '#/cost', ready: (page) => page.getByRole('heading', { level: 2 }).waitFor() },
  {
    name: 'palette',
    hash: '#/token/1:0x4fa160e05553b1f1a607e574b2c846d3d7554592',
    async ready(page) {
      await page.getByRole('button', { name: /largest/ }).click();
      await page.getByRole('meter').first().waitFor();
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').getByRole('option').nth(3).waitFor();
    },
  },
];

type Finding = { id: string; impact: string; nodes: { html: string; failureSummary: string }[] };

/** What axe finds to be serious, as its rule and the first element. */
const seriousOn = async (page: Page): Promise<string[]> => {
  const isFirst = await page.evaluate('typeof axe === "undefined"');
  if (isFirst) await page.evaluate(axe.source);
  // Without the other results it has no need to describe every element that it has judged. All views have the same style
  // sheets, which are read once.
  const run = `axe.run({ resultTypes: ['violations'], preload: ${isFirst} })`;
  const { violations } = (await page.evaluate(run)) as { violations: Finding[] };
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
};

const overflowOf = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - window.innerWidth') as Promise<number>;

const WINDOW = { width: 1100, height: 800 };
/** A small phone, or a window of 1280 × 1024 pixels at 400 %. */
const PHONE = { width: 320, height: 256 };

/** Each colour scheme in one size: together they show contrast, names and order in both. */
const LOOKS = [
  { colorScheme: 'light', audited: WINDOW },
  { colorScheme: 'dark', audited: PHONE },
] as const;

const PICTURES_OF_THE_SANDBOX = /\/(collectible\/image|token\/logo)\//;

/** Shows each view once, and looks at it in both colour schemes. */
const lookAt = async (gateway: Gateway, views: readonly View[]): Promise<void> => {
  await using opened = await openPage(gateway.url, { viewport: WINDOW });
  const { page } = opened;
  for (const { name, hash, ready } of views) {
    await page.goto(`${gateway.url}/${hash}`);
    await ready(page);
    for (const { colorScheme, audited } of LOOKS) {
      await page.emulateMedia({ colorScheme });
      const { PICTURES: folder } = process.env;
      if (folder) {
        const path = fileURLToPath(new URL(`../../${folder}/${name}-${colorScheme}.png`, import.meta.url));
        await page.screenshot({ path });
      }
      await page.setViewportSize(audited);
      expect([name, colorScheme, await seriousOn(page)]).toEqual([name, colorScheme, []]);
      expect([name, colorScheme, await auditControls(page)]).toEqual([name, colorScheme, []]);
      await page.setViewportSize(PHONE);
      expect([name, colorScheme, Math.max(0, await overflowOf(page))]).toEqual([name, colorScheme, 0]);
      await page.setViewportSize(WINDOW);
    }
  }
  expect(opened.strange.filter((url) => !PICTURES_OF_THE_SANDBOX.test(url))).toEqual([]);
  expect(opened.faults).toEqual([]);
};

/** They show what arrives. Blocks that no view shows would only take time. */
const MOVING = ['live', 'webhooks'];

test('light and dark: axe finds nothing serious, every control can be read and hit, and every view fits 320 pixels', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ SANDBOX_BLOCK_MS: '3600000' });
  await lookAt(
    gateway,
    VIEWS.filter(({ name }) => !MOVING.includes(name)),
  );
});

test('light and dark: so does every view of what arrives', async (context) => {
  needBrowser(context);
  // With more blocks a second there would be hundreds of rows to audit before it is done.
  await using gateway = await startGateway();
  await lookAt(
    gateway,
    VIEWS.filter(({ name }) => MOVING.includes(name)),
  );
});
