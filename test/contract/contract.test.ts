import { expect, test } from 'vitest';
import { openSandbox } from '../backend/support/sandbox.ts';
import { said, startBendingProxy } from './support/bending-proxy.ts';
import { judge, remarks } from './support/judge.ts';

/** One suite judges every source of the service, and any other server. */

test('the sandbox keeps the contract in every point', async () => {
  await using sandbox = await openSandbox();
  expect(remarks(await judge({ url: sandbox.url }))).toEqual([
    // The contract has texts and lists of texts; real services nest lists, and so does the sandbox.
    expect.stringMatching(
      /^note: .* decodes calls and events .*inputs\[\]\.value: expected a text, or a list of texts/,
    ),
  ]);
});

test('blocks that come while it is judged make no difference, and are delivered', async () => {
  await using sandbox = await openSandbox({ now: Date.now, blockMs: 100 });
  sandbox.startClock();
  await using proxy = await startBendingProxy(sandbox.url);
  // The events are those of blocks.
  proxy.bend({ request: ({ path }) => (path.endsWith('/test') ? said(404, 'Not found') : undefined) });
  const results = await judge({ url: proxy.url });
  expect(remarks(results).filter((remark) => !remark.startsWith('note'))).toEqual([]);
});
