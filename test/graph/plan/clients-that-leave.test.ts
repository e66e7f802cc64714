import fc from 'fast-check';
import { afterAll, test } from 'vitest';
import {
  type Asked,
  answersOf,
  type HeldGateway,
  startComparedGateways,
} from '../../support/lookups/held-gateway.ts';
import { runs } from '../../support/runs.ts';
import { freshAddress } from '../../support/upstream/builders.ts';

/** Operations share their pages and answers. Clients that leave meanwhile, and deliveries, change nothing for the others. */

const made = new AsyncDisposableStack();
afterAll(() => made.disposeAsync());
const gateways = made.use(await startComparedGateways());

const INVALID =
  'query ($address: Address!) { wallet(address: $address) { transactions(first: -1) { edges { cursor } } } }';
const DOCUMENTS = [
  INVALID,
  `query ($address: Address!, $first: Int = 10) {
    wallet(address: $address) {
      transactions(first: $first) { edges { cursor node { id } } requestTime }
      collectibles(first: $first) { nodes { tokenId } }
    }
  }`,
  `query ($address: Address!, $first: Int = 10) {
    wallet(address: $address) {
      transactions(first: $first) { edges { node { hash decoded { name } } } }
      few: transactions(first: 1) { nodes { hash } }
    }
  }`,
] as const;
const WALLETS = 2;

type Ask = { kind: 'ask'; query: string; wallet: number; first: number };
type Leave = { kind: 'leave'; client: number };
type Delivery = { kind: 'delivery'; wallet: number };
type Step = Ask | Leave | Delivery;

const wallet = fc.nat(WALLETS - 1);
const ask = fc.record<Ask>({
  kind: fc.constant('ask'),
  query: fc.constantFrom(...DOCUMENTS),
  wallet,
  first: fc.constantFrom(2, 120),
});
const leave = fc.record<Leave>({ kind: fc.constant('leave'), client: fc.nat(6) });
const delivery = fc.record<Delivery>({ kind: fc.constant('delivery'), wallet });
const step = fc.oneof<[fc.WeightedArbitrary<Step>, fc.WeightedArbitrary<Step>, fc.WeightedArbitrary<Step>]>(
  { weight: 6, arbitrary: ask },
  { weight: 2, arbitrary: leave },
  { weight: 1, arbitrary: delivery },
);

/** Plays the steps one after the other while upstream holds all answers, and lets go of them then. */
const play = async (
  held: HeldGateway,
  steps: readonly Step[],
  wallets: readonly string[],
): Promise<readonly string[]> => {
  // One page each: around a delivery, upstream's order decides how often a second one is requested.
  for (const address of wallets) held.serve(address, 90);
  const waiting: Asked[] = [];
  const failed: string[] = [];
  const take = async (each: Step): Promise<void> => {
    if (each.kind === 'leave') for (const client of waiting.splice(each.client, 1)) client.leave();
    else {
      const address = wallets[each.wallet] ?? '';
      if (each.kind === 'delivery') return held.invalidate(address);
      const asked = held.ask({ query: each.query, variables: { address, first: each.first } });
      if (each.query === INVALID) failed.push(await asked.answer);
      else waiting.push(asked);
    }
  };
  for (const each of steps) {
    await take(each);
    await held.inFlight(waiting.length);
  }
  held.release();
  return [...failed, ...(await answersOf(waiting))];
};

/** Whatever is drawn, these share their pages. */
const EQUAL: Step[] = Array.from({ length: 3 }, () => ({
  kind: 'ask',
  query: DOCUMENTS[1],
  wallet: 0,
  first: 2,
}));

test('any clients that ask and leave get what they get without sharing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 12 }), async (steps) => {
      const wallets = Array.from({ length: WALLETS }, freshAddress);
      await gateways.run((held) => play(held, steps, wallets));
    }),
    { numRuns: runs(10), endOnFailure: true, examples: [[EQUAL]] },
  );
});
