import { expect, test } from 'vitest';
import { openSandbox } from '../support/sandbox.ts';
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
