import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { TestContext } from 'vitest';
import { need } from '../available.ts';

/** A real Chromium, without a network beyond this machine. */

/** The first is Chromium without its windows: it opens a page on half of the CPU. */
const BROWSERS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
const executablePath =
  process.env.CHROMIUM ?? BROWSERS.map((name) => `/usr/bin/${name}`).find((path) => existsSync(path));

/** What happens on a machine with two busy cores happens late. */
const WAIT_MS = 120_000;

/** Skips the test where there is no Chromium, and says why; in CI it fails. */
export const needBrowser = (context: TestContext): void =>
  need(
    context,
    executablePath !== undefined,
    'a Chromium (Debian: apt-get install chromium-headless-shell), or CHROMIUM set to one',
  );

export type OpenedPage = {
  readonly page: Page;
  /** Requests to other hosts than the gateway's. */
  readonly strange: readonly string[];
  /** What the content security policy refused, and errors that no code caught. */
  readonly faults: readonly string[];
  [Symbol.asyncDispose](): Promise<void>;
};

/** Of all test files of this process. Playwright ends it with the process. */
let launched: Promise<Browser> | null = null;

/** Opens a page of a gateway, as a new visitor. */
export const openPage = async (url: string, options: BrowserContextOptions = {}): Promise<OpenedPage> => {
  launched ??= chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: ['--no-sandbox', '--disable-gpu'],
  });
  const visitor = await (await launched).newContext(options);
  const page = await visitor.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const strange: string[] = [];
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol.startsWith('http') && host !== new URL(url).host) strange.push(request.url());
  });
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.goto(url);
  return { page, strange, faults, [Symbol.asyncDispose]: () => visitor.close() };
};
