import { expect, test, vi } from 'vitest';
import { Answer, createAnswers } from '../../src/graph/answer/answer.ts';
import { createTimeSlices } from '../../src/lib/scheduling/time-slices.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { freshAddress } from '../support/upstream/builders.ts';

/** An operation that begins more than 1,000 lookups lets others run in between. */

test('beyond 1,000 lookups the objects of a list begin in slices', async () => {
  let now = 0;
  const slices = createTimeSlices(10, () => now);
  const answer = new Answer({ ...createAnswers(1e6, () => false), slices }, null);
  const begun: string[] = [];
  setImmediate(() => begun.push('another turn'));
  expect(answer.canContinue).toBe(true);
  now = 10;
  expect(answer.canContinue).toBe(false);
  for await (const wallet of answer.beginning(['a', 'b', 'c', 'd', 'e'])) {
    begun.push(wallet);
    answer.lookups += 300;
  }
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'another turn', 'e']);
});

test('each list of each wallet counts as a lookup', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const end = vi.spyOn(Answer.prototype, 'end');
  const lists =
    'a: transactions(first: 0) { nodes { hash } } b: collectibles(first: 0) { nodes { tokenId } }';
  await gateway.data(`query ($addresses: [Address!]!) { wallets(addresses: $addresses) { ${lists} } }`, {
    addresses: [freshAddress(), freshAddress(), freshAddress()],
  });
  expect(end.mock.contexts).toMatchObject([{ lookups: 6 }]);
  end.mockRestore();
});
