import { assertObjectType } from 'graphql';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { plannedSchema } from '../../../src/schema.ts';
import { TRANSPORTS } from '../../support/clients/transports.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { codesOf } from '../../support/gateway/start.ts';
import {
  type Asked,
  answersOf,
  type HeldGateway,
  ONE,
  OTHER,
  startComparedGateways,
} from '../../support/lookups/held-gateway.ts';
import { freshAddress } from '../../support/upstream/builders.ts';

/**
 * Operations that arrive while an equal one is executed share its answer. All else is as in a gateway that executes each:
 * what clients get, what they are charged, what upstream is asked for, and what metrics count.
 */

const made = new AsyncDisposableStack();
afterAll(() => made.disposeAsync());
const gateways = made.use(await startComparedGateways());
const { fast, plain } = gateways;

const BOTH = `query ($address: Address!, $first: Int = 10) {
  wallet(address: $address) {
    transactions(first: $first) { edges { cursor node { id } } requestTime }
    collectibles(first: $first) { nodes { tokenId } }
  }
}`;

let address = '';
beforeEach(() => {
  address = freshAddress();
});
afterEach(() => {
  for (const held of [fast, plain]) held.release();
  vi.restoreAllMocks();
});

/** Counts the lists of transactions that plans write. */
const spyOnLists = () => {
  const { edges } = assertObjectType(plannedSchema.schema.getType('TransactionConnection')).getFields();
  if (!edges?.resolve) throw new TypeError('Expected a resolver of edges.');
  return vi.spyOn(edges as { resolve: typeof edges.resolve & object }, 'resolve');
};

const ask = (held: HeldGateway, headers = ONE, variables = {}): Asked =>
  held.ask({ query: BOTH, variables: { address, ...variables }, headers });

/** Sends this many equal requests, each once the previous one has started. */
const askMany = async (held: HeldGateway, count: number): Promise<readonly Asked[]> => {
  const asked: Asked[] = [];
  while (asked.length < count) {
    asked.push(ask(held));
    await held.inFlight(asked.length);
  }
  return asked;
};

test('equal operations that wait for the same pages are executed once', async () => {
  const lists = spyOnLists();
  const { shared, answers } = await gateways.run(async (held) => {
    held.serve(address, 3);
    const asked = await askMany(held, 8);
    held.release();
    const received = await answersOf(asked);
    expect(held.fake.requestsFor(address)).toHaveLength(2);
    return received;
  });
  expect(shared).toBe(7);
  expect(lists).toHaveBeenCalledTimes(1);
  expect(answers[0]).toContain('"upstream":{"requests":2,');
  for (const answer of answers.slice(1)) expect(answer).toContain('"cached":2}');
});

test('an operation that arrives between two pages shares the rest', async () => {
  const { shared } = await gateways.run(async (held) => {
    held.serve(address, 300, 4);
    const asked = [ask(held, ONE, { first: 250 })];
    await expect.poll(() => held.fake.requestsFor(address).length).toBe(4);
    asked.push(ask(held, ONE, { first: 250 }));
    await held.inFlight(2);
    held.release();
    return answersOf(asked);
  });
  expect(shared).toBe(1);
});

test('operations of another key, other variables or another wallet are executed by themselves', async () => {
  const another = freshAddress();
  const { shared, answers } = await gateways.run(async (held) => {
    held.serve(address, 3);
    held.serve(another, 5);
    const asked = [
      ask(held),
      ask(held, OTHER),
      ask(held, ONE, { first: 2 }),
      ask(held, ONE, { address: another }),
    ];
    await held.inFlight(4);
    held.release();
    const received = await answersOf(asked);
    expect(held.fake.requestsFor(address)).toHaveLength(4);
    return received;
  });
  expect(shared).toBe(0);
  expect(new Set(answers).size).toBe(3);
});

describe('where the first client leaves', () => {
  test.each([1, 3])('%i others get their answers', async (others) => {
    const { answers } = await gateways.run(async (held) => {
      held.serve(address, 3);
      const [first, ...rest] = await askMany(held, 1 + others);
      first?.leave();
      await held.inFlight(others);
      held.release();
      const received = await answersOf(rest);
      expect(held.fake.requestsFor(address)).toHaveLength(2);
      return received;
    });
    for (const answer of answers) expect(answer).toContain('"tokenId":');
  });

  test('and the last one, too, the requests to upstream are aborted', async () => {
    fast.hold();
    fast.serve(address, 3);
    const [first, second, last] = await askMany(fast, 3);
    await expect.poll(() => fast.fake.requestsFor(address).length).toBe(2);
    const abandoned = () => fast.fake.requestsFor(address).map((request) => request.abandoned);
    first?.leave();
    second?.leave();
    await fast.inFlight(1);
    expect(abandoned()).toEqual([false, false]);
    last?.leave();
    await expect.poll(abandoned).toEqual([true, true]);
    await fast.inFlight(0);
  });
});

test('a later client that leaves does not wait for the first one', async () => {
  const { shared } = await gateways.run(async (held) => {
    held.serve(address, 3);
    const asked = await askMany(held, 3);
    asked[1]?.leave();
    await held.inFlight(2);
    held.release();
    return answersOf(asked);
  });
  expect(shared).toBe(1);
});

test('answers with errors are not shared, and upstream is not asked again for them', async () => {
  const { shared, answers } = await gateways.run(async (held) => {
    held.serve(address, 3);
    held.fake.collectibles.set(
      address,
      held.held(() => ({ status: 403, json: { message: 'no' } })),
    );
    const asked = await askMany(held, 4);
    held.release();
    const received = await answersOf(asked);
    expect(held.fake.requestsFor(address)).toHaveLength(2);
    return received;
  });
  expect(shared).toBe(0);
  for (const answer of answers) expect(codesOf(JSON.parse(answer))).toEqual(['FORBIDDEN']);
});

test('an operation that begins after a delivery for its wallet does not wait for one that began before', async () => {
  const { answers } = await gateways.run(async (held) => {
    held.serve(address, 3);
    const first = ask(held);
    await expect.poll(() => held.fake.requestsFor(address).length).toBe(2);
    await held.invalidate(address);
    const releaseFirst = held.hold();
    held.serve(address, 4);
    const later = [ask(held)];
    await held.inFlight(2);
    later.push(ask(held));
    await held.inFlight(3);
    held.release();
    const received = await answersOf(later);
    releaseFirst();
    expect(held.fake.requestsFor(address)).toHaveLength(4);
    return [...received, await first.answer];
  });
  expect(answers[0]?.length).toBeGreaterThan(answers[2]?.length ?? 0);
});

test('heavy answers are not shared while they are made: they are made one after another', async () => {
  const { shared, answers } = await gateways.run(async (held) => {
    held.serve(address, 900);
    const asked = [ask(held, ONE, { first: 900 }), ask(held, ONE, { first: 900 })];
    await held.inFlight(2);
    held.release();
    return answersOf(asked);
  });
  expect(shared).toBe(0);
  expect(answers[0]?.length).toBeGreaterThan(256 * 1024);
});

test.each(TRANSPORTS)('an operation over HTTP shares the answer of one over %s', async (transport, send) => {
  fast.hold();
  fast.serve(address, 3);
  const shared = async () =>
    (await scrape(fast.gateway.url)).sum('gateway_shared_answers_total', { from: 'in_flight' });
  const before = await shared();
  const first = send(fast.gateway.url, { query: BOTH, variables: { address, first: 5 } }, ONE);
  await expect.poll(() => fast.fake.requestsFor(address).length).toBe(2);
  const other = ask(fast, ONE, { first: 5 });
  await fast.inFlight(transport === 'WebSocket' ? 1 : 2);
  fast.release();
  expect((await first).data).toEqual(JSON.parse(await other.answer).data);
  expect((await shared()) - before).toBe(1);
});
