import { expect, test } from 'vitest';
import { liveDashboard } from '../../scripts/soak/dashboard.ts';
import { needBrowser } from '../support/clients/browser.ts';

/** `npm run soak -- --dashboard`, for less than a minute. */

test('the dashboard shows, after some blocks of the sandbox, what one shows that has just been loaded', async (context) => {
  needBrowser(context);
  const { figures, problems } = await liveDashboard({ seconds: 40 });
  expect(problems).toEqual([]);
  expect(figures.newRows).toBeGreaterThan(0);
  expect(figures.rows.transactions).toBeGreaterThan(40);
});
