import { expect, test, vi } from 'vitest';
import { Answer, createAnswers } from '../../../src/graph/answer/answer.ts';
import { createTimeSlices } from '../../../src/lib/time-slices.ts';
import { attack } from '../../support/clients/raw-http.ts';
import { nowhere, startGateway } from '../../support/gateway/start.ts';
import { freshAddress } from '../../support/upstream/builders.ts';

/** An operation begins up to 1,000 lookups in one turn of the event loop, and only one operation with many does so in a turn. */

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
  using end = vi.spyOn(Answer.prototype, 'end');
  const lists =
    'a: transactions(first: 0) { nodes { hash } } b: collectibles(first: 0) { nodes { tokenId } }';
  await gateway.data(`query ($addresses: [Address!]!) { wallets(addresses: $addresses) { ${lists} } }`, {
    addresses: [freshAddress(), freshAddress(), freshAddress()],
  });
  expect(end.mock.contexts).toMatchObject([{ lookups: 6 }]);
});

/** Counts the turns of the event loop. */
const startTurns = () => {
  let turn = 0;
  const count = () => {
    turn += 1;
    immediate = setImmediate(count);
  };
  let immediate = setImmediate(count);
  return { now: () => turn, [Symbol.dispose]: () => clearImmediate(immediate) };
};

/** A request for 60 wallets. */
const requestOfMany = (): string => {
  const query =
    'query ($addresses: [Address!]!) { wallets(addresses: $addresses) { transactions(first: 0) { nodes { hash } } } }';
  const body = JSON.stringify({ query, variables: { addresses: Array.from({ length: 60 }, freshAddress) } });
  const headers = ['host: localhost', 'content-type: application/json', `content-length: ${body.length}`];
  return `POST /graphql HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`;
};

test('of operations with more than 50 lookups that come together, one begins in a turn', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  const realNow = performance.now.bind(performance);
  let spentMs = 0;
  using _clock = vi.spyOn(performance, 'now').mockImplementation(() => realNow() + spentMs);
  using turns = startTurns();
  const begun: number[] = [];
  const { beginning } = Answer.prototype;
  using _beginning = vi.spyOn(Answer.prototype, 'beginning').mockImplementation(function (
    this: Answer,
    items,
  ) {
    begun.push(turns.now());
    // It takes a whole slice.
    spentMs += 11;
    return beginning.call(this, items);
  });
  await attack(gateway.url, async (socket) => {
    socket.write(Array.from({ length: 5 }, requestOfMany).join(''));
    await expect.poll(() => begun.length).toBe(5);
    socket.end();
  });
  expect(new Set(begun).size).toBe(5);
});
