import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CursorExpiredError } from '../../../src/deliveries/log/errors.ts';
import type { DeliveryLog, StoredDelivery } from '../../../src/deliveries/log/log.ts';
import { runs } from '../../support/runs.ts';
import { delivery, follow, numberOf, TENANT } from '../support/builders.ts';
import { describeEachStore, type Store } from '../support/stores.ts';

const CHAINS = [1, 2, 3];
const RETAINED = 12;

type Step =
  | { readonly do: 'append'; readonly chains: readonly number[] }
  | { readonly do: 'resend'; readonly back: number }
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
  { weight: 2, arbitrary: fc.record({ do: fc.constant('resend' as const), back: fc.nat(20) }) },
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

/** A client that stores only the cursor of its last delivery between two connections. */
class Client {
  readonly chains: readonly number[] | undefined;
  readonly seen: number[] = [];
  /** The index up to which the client has seen every match. */
  from = 0;
  cursor: string;
  reader: AsyncIterator<StoredDelivery, undefined> | null = null;

  constructor(chains: readonly number[] | undefined, cursor: string) {
    this.chains = chains;
    this.cursor = cursor;
  }
}

/** The expected content of the log, and the clients that read it. */
class LogModel {
  readonly chainOf: number[] = [];
  readonly clients: Client[];
  readonly #reopen: () => Promise<DeliveryLog>;
  log: DeliveryLog;
  trimmed = 0;

  constructor(reopen: () => Promise<DeliveryLog>, log: DeliveryLog, start: string) {
    this.#reopen = reopen;
    this.log = log;
    this.clients = [undefined, [1], [2, 3]].map((chains) => new Client(chains, start));
  }

  async run(step: Step): Promise<void> {
    if (step.do === 'append') await this.#append(step.chains);
    else if (step.do === 'resend') await this.#resend(step.back);
    else if (step.do === 'trim') await this.#trim();
    else if (step.do === 'restart') await this.#restart();
    else {
      const one = this.clients[step.client];
      if (one === undefined) return;
      if (step.do === 'take') await this.take(one, step.count);
      else await disconnect(one);
    }
  }

  /** Reads `count` deliveries, or all that are left: this test does not cover waiting for more. */
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
        // Only a client that may have missed a delivery gets this error. It continues from the head.
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
    // One call with a batch and several single calls, in the same turn of the event loop.
    const [first = [], ...others] = [batch.slice(0, 2), ...batch.slice(2).map((one) => [one])];
    await Promise.all([this.log.append(first), ...others.map((one) => this.log.append(one))]);
  }

  async #resend(back: number): Promise<void> {
    const number = this.chainOf.length - 1 - back;
    if (number < this.trimmed) return;
    const [resent] = await this.log.append([
      delivery(number, { chainId: this.chainOf[number] ?? null, attempt: 1 }),
    ]);
    expect(resent).toMatchObject({ duplicate: true, sequence: number + 1 });
  }

  async #trim(): Promise<void> {
    await this.log.trim();
    this.trimmed = Math.max(this.trimmed, this.chainOf.length - RETAINED);
  }

  async #restart(): Promise<void> {
    for (const one of this.clients) await disconnect(one);
    await this.log.close();
    this.log = await this.#reopen();
    this.trimmed = Math.max(this.trimmed, this.chainOf.length - RETAINED);
  }
}

const disconnect = async (one: Client): Promise<void> => {
  await one.reader?.return?.();
  one.reader = null;
};

/** Resolves once the log has done the trim that it starts when it is opened. */
const openTrimmedLog = async ({ openLog }: Store, place: string) => {
  const log = await openLog({ place, retentionCount: RETAINED });
  await log.trim();
  return log;
};

describeEachStore((store) => {
  test('through appends, retries, disconnects, trims and restarts, no client has a gap, a duplicate or a wrong order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(arbitraryStep, { minLength: 1, maxLength: 80, size: 'max' }),
        async (steps) => {
          const place = await store.newPlace();
          const log = await openTrimmedLog(store, place);
          const model = new LogModel(() => openTrimmedLog(store, place), log, await log.head(TENANT));
          try {
            for (const step of steps) await model.run(step);
            for (const one of model.clients) await model.take(one, Number.POSITIVE_INFINITY);
            for (const { seen } of model.clients)
              expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
          } finally {
            await model.log.close();
          }
        },
      ),
      { numRuns: runs(15) },
    );
  });
});
