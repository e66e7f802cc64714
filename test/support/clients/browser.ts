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
const WAIT_MS = 20_000;

/** Skips the test where there is no Chromium, and says why; in CI it fails. */
export const needBrowser = (context: TestContext): void =>
  need(
    context,
    executablePath !== undefined,
    'a Chromium (Debian: apt-get install chromium-headless-shell), or CHROMIUM set to one',
  );

type Visit = {
  readonly page: Page;
  /** Requests to other hosts than the gateway's. */
  readonly strange: readonly string[];
  /** What the content security policy refused, and errors that no code caught. */
  readonly faults: readonly string[];
};

export type OpenedPage = Visit & AsyncDisposable;

/** Of all test files of this process. Playwright ends it with the process. */
let launched: Promise<Browser> | null = null;

/** Opens a page of a gateway, as a new visitor. */
export const openPage = async (url: string, options: BrowserContextOptions = {}): Promise<OpenedPage> => {
  launched ??= chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: ['--no-sandbox', '--disable-gpu'],
  });
  // What moves while a page loads is drawn sixty times a second, on the processor.
  const visitor = await (await launched).newContext({ reducedMotion: 'reduce', ...options });
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

/** A view that asks for nothing. */
const EMPTY_VIEW = '#/cost';

/** The size of a page by default. */
const WINDOW = { width: 1280, height: 720 };

/**
 * One page of the console for the tests of a file: loading it takes most of the CPU of a short test. Each visit shows the view
 * of a link from its beginning, as the same visitor, whose costs add up. Close it after the tests.
 */
export const sharePage = (urlOf: () => string) => {
  let opening: Promise<OpenedPage> | null = null;
  return {
    async visit(hash: string, viewport = WINDOW): Promise<Visit> {
      opening ??= openPage(`${urlOf()}/${EMPTY_VIEW}`);
      const opened = await opening;
      const { page } = opened;
      await page.setViewportSize(viewport);
      await page.goto(`${urlOf()}/${EMPTY_VIEW}`);
      const [strange, faults] = [opened.strange.length, opened.faults.length];
      await page.goto(`${urlOf()}/${hash}`);
      return {
        page,
        get strange() {
          return opened.strange.slice(strange);
        },
        get faults() {
          return opened.faults.slice(faults);
        },
      };
    },
    async close(): Promise<void> {
      await (await opening)?.[Symbol.asyncDispose]();
    },
  };
};
