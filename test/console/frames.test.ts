import { expect, test } from 'vitest';
import { needBrowser, openPage } from '../support/clients/browser.ts';
import { activity, deliver, deliveriesOf } from '../support/clients/deliver.ts';
import { sleep } from '../support/clients/queries.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';

/**
 * What live events cost the page's script, by the browser's own trace. Times are of the thread's processor, not of a clock, so
 * that a busy machine does not change them. The bounds leave room for one that is several times slower than a laptop.
 */

const ROWS = 1000;
const EVENTS = 300;
/** From here on the browser calls a task long. At 60 frames a second, a frame has 17 ms. */
const LONG_MS = 50;
const MOST_LONG = 3;
const MOST_MS = 3000;

type TraceEvent = {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  tdur?: number;
  args: { name?: string };
};

/** Milliseconds of the processor that each call of a function of the page took, on its main thread. */
const callsIn = (trace: Buffer): readonly number[] => {
  const { traceEvents }: { traceEvents: readonly TraceEvent[] } = JSON.parse(trace.toString());
  const mains = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  return traceEvents
    .filter(({ name, ph, pid, tid }) => name === 'FunctionCall' && ph === 'X' && mains.has(`${pid} ${tid}`))
    .map(({ tdur = 0 }) => tdur / 1000);
};

test('with 1,000 rows, a hundred events a second leave room for frames', async (context) => {
  needBrowser(context);
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const { deliveryUrl: url } = await deliveriesOf(gateway.url);
  const post = async (number: number): Promise<void> =>
    expect(await deliver(url, { type: 'activities', body: activity(number) })).toBe(200);
  for (let number = 1; number <= ROWS; number += 1) await post(number);
  await using opened = await openPage(`${gateway.url}/#/live`);
  const { page } = opened;
  const rows = page.locator('[data-transaction]');
  await expect
    .poll(async () => {
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      return rows.count();
    })
    .toBe(ROWS);
  await page.evaluate('scrollTo(0, 0)');
  const browser = page.context().browser();
  if (!browser) throw new Error('Expected a page of a browser, got one without.');
  await browser.startTracing(page, { categories: ['devtools.timeline'] });
  for (let number = ROWS + 1; number <= ROWS + EVENTS; number += 1) {
    await post(number);
    await sleep(10);
  }
  await page.getByText(`${EVENTS} arrived since this view was opened`).waitFor();
  const calls = callsIn(await browser.stopTracing());
  const sum = calls.reduce((all, time) => all + time, 0);
  // Without times the trace would say nothing.
  expect(sum).toBeGreaterThan(0);
  expect(sum).toBeLessThan(MOST_MS);
  expect(calls.filter((time) => time > LONG_MS).length).toBeLessThanOrEqual(MOST_LONG);
  expect(await rows.count()).toBe(ROWS);
  expect(opened.faults).toEqual([]);
});
