import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CursorExpiredError } from '../../../src/deliveries/log/errors.ts';
import type { DeliveryLog, StoredDelivery } from '../../../src/deliveries/log/log.ts';
import { openSqliteLog } from '../../../src/deliveries/sqlite/log.ts';
import { delivery, follow, numberOf, TENANT, temporaryDirectory } from '../support/builders.ts';

const CHAINS = [1, 2, 3];
const KEPT = 12;

type Step =
  | { readonly do: 'append'; readonly chains: readonly number[] }
  | { readonly do: 'repeat'; readonly back: number }
  | { readonly do: 'take'; readonly client: number; readonly count: number }
  | { readonly do: 'disconnect'; readonly client: number }
  | { readonly do: 'trim' }
  | { readonly do: 'restart' };

const client = fc.integer({ min: 0, max: 2 });
const arbitraryStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      chains: fc.array(fc.constantFrom(...CHAINS), { minLength: 1, maxLength: 8 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('repeat' as const), back: fc.nat(20) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('take' as const),
      client,
      count: fc.integer({ min: 1, max: 10 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('disconnect' as const), client }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('trim' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);

/** A dashboard: it remembers the cursor of its last delivery, and nothing else, from one connection to the next. */
class Client {
  readonly chains: readonly number[] | undefined;
  readonly seen: number[] = [];
  /** The sequence up to which it knows that it has seen all that matches. */
  from = 0;
  cursor: string;
  reader: AsyncIterator<StoredDelivery, undefined> | null = null;

  constructor(chains: readonly number[] | undefined, cursor: string) {
    this.chains = chains;
    this.cursor = cursor;
  }
}

/** All of the log as it should be, and the clients that follow it. */
class ChainReader {
  readonly chainOf: number[] = [];
  readonly clients: Client[];
  readonly #dataDir: string;
  log: DeliveryLog;
  trimmed = 0;

  constructor(dataDir: string, log: DeliveryLog, start: string) {
    this.#dataDir = dataDir;
    this.log = log;
    this.clients = [undefined, [1], [2, 3]].map((chains) => new Client(chains, start));
  }

  async run(step: Step): Promise<void> {
    if (step.do === 'append') await this.#append(step.chains);
    else if (step.do === 'repeat') await this.#repeat(step.back);
    else if (step.do === 'trim') await this.#trim();
    else if (step.do === 'restart') await this.#restart();
    else {
      const one = this.clients[step.client];
      if (one === undefined) return;
      if (step.do === 'take') await this.take(one, step.count);
      else await disconnect(one);
    }
  }

  /** Takes `count` deliveries, or as many as there are: waiting for more is not what this is about. */
  async take(one: Client, count: number): Promise<void> {
    const left = this.chainOf.flatMap((chain, index) => {
      const matches = one.chains === undefined || one.chains.includes(chain);
      return matches && index >= one.from ? [index] : [];
    });
    for (const expected of left.slice(0, count)) {
      one.reader ??= follow(this.log, {
        after: one.cursor,
        filter: { chainIds: one.chains },
      });
      try {
        const { value } = await one.reader.next();
        if (value === undefined) throw new Error('the reader ended');
        expect(numberOf(value)).toBe(expected);
        one.cursor = value.cursor;
        one.from = expected + 1;
        one.seen.push(expected);
      } catch (error) {
        if (!(error instanceof CursorExpiredError)) throw error;
        // Only who may have missed something is told so, and goes on from what is kept.
        expect(one.from).toBeLessThan(this.trimmed);
        await disconnect(one);
        one.cursor = await this.log.head(TENANT);
        one.from = this.chainOf.length;
        return;
      }
    }
  }

  async #append(chains: readonly number[]): Promise<void> {
    const batch = chains.map((chainId, index) => delivery(this.chainOf.length + index, { chainId }));
    this.chainOf.push(...chains);
    // Some in one call, some in calls of their own, all in one turn.
    const [first = [], ...others] = [batch.slice(0, 2), ...batch.slice(2).map((one) => [one])];
    await Promise.all([this.log.append(first), ...others.map((one) => this.log.append(one))]);
  }

  async #repeat(back: number): Promise<void> {
    const number = this.chainOf.length - 1 - back;
    if (number < this.trimmed) return;
    const [repeated] = await this.log.append([delivery(number, { attempt: 1 })]);
    expect(repeated).toMatchObject({ duplicate: true, sequence: number + 1 });
  }

  async #trim(): Promise<void> {
    await this.log.trim();
    this.trimmed = Math.max(this.trimmed, this.chainOf.length - KEPT);
  }

  async #restart(): Promise<void> {
    for (const one of this.clients) await disconnect(one);
    await this.log.close();
    this.log = await openWorldLog(this.#dataDir);
    this.trimmed = Math.max(this.trimmed, this.chainOf.length - KEPT);
  }
}

const disconnect = async (one: Client): Promise<void> => {
  await one.reader?.return?.();
  one.reader = null;
};

/** Resolves once what an opened log drops at first is dropped. */
const openWorldLog = async (dataDir: string) => {
  const log = await openSqliteLog({ dataDir, retentionHours: 1, retentionCount: KEPT, now: () => 1_000_000 });
  await log.trim();
  return log;
};

test('through appends, retries, disconnects, trims and restarts no client has a gap, a repeat or a swap', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(arbitraryStep, { minLength: 1, maxLength: 80, size: 'max' }), async (steps) => {
      const dataDir = await temporaryDirectory();
      const log = await openWorldLog(dataDir);
      const simulator = new ChainReader(dataDir, log, await log.head(TENANT));
      try {
        for (const step of steps) await simulator.run(step);
        for (const one of simulator.clients) await simulator.take(one, Number.POSITIVE_INFINITY);
        for (const { seen } of simulator.clients)
          expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
      } finally {
        await simulator.log.close();
      }
    }),
    { numRuns: 25 },
  );
});
