import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lookups } from '../../../src/lookups/registry.ts';
import type { AnyLookup } from '../../../src/upstream/lookup.ts';
import { deliver } from '../../support/clients/deliver.ts';
import { createTestClock } from '../../support/gateway/clock.ts';
import { startTrusting } from '../../support/gateway/trusted.ts';
import { sampleItems, sampleOf } from '../../support/lookups/samples.ts';
import { runs } from '../../support/runs.ts';
import { freshAddress } from '../../support/upstream/builders.ts';
import { serving } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** The lists of a wallet and of a token. */
const documentOf = (lookup: AnyLookup): string => {
  const { parent = 'wallet(address: $address)', key } = sampleOf(lookup);
  return `query ($address: Address!, $first: Int!) {
    parent: ${parent} { list: ${lookup.name}(first: $first) { nodes { ${key[0]} } pageInfo { endCursor } } }
  }`;
};
/** All lists of a wallet. */
const WALLET = `query ($address: Address!, $first: Int!) {
  wallet(address: $address) {
    ${lookups
      .filter((lookup) => sampleOf(lookup).parent === undefined)
      .map(({ name }) => `${name}(first: $first) { edges { cursor } requestTime }`)
      .join(' ')}
  }
}`;
const URL = 'query { deliveryUrl }';

/** Whether a page is fresh, or too old to be served: in between, a request that no client waits for refreshes it. */
const WAITS_MS = [100, 3_600_000];

const ask = fc.record({
  kind: fc.constant('ask' as const),
  ofAll: fc.nat(3).map((drawn) => drawn === 0),
  wallet: fc.nat(1),
  first: fc.constantFrom(3, 120),
});
const step = fc.oneof(
  { arbitrary: ask, weight: 3 },
  fc.record({ kind: fc.constant('grow' as const), wallet: fc.nat(1) }),
  fc.record({ kind: fc.constant('deliver' as const), wallet: fc.nat(1) }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(...WAITS_MS) }),
);

test.for(lookups)(
  'a client that keeps answers with $name and asks whether they are right sees what one without a cache sees',
  async (lookup) => {
    const document = documentOf(lookup);
    await using fake = await startFakeWallets();
    const clock = createTestClock();
    await using gateway = await startTrusting([WALLET, document, URL], { UPSTREAM_URL: fake.url }, clock);
    const { data } = JSON.parse((await gateway.get(URL)).text);
    const seen = new Map<number, number>();

    const play = async (steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[]) => {
      const wallets = [freshAddress(), freshAddress()];
      const sizes = [0, 0];
      const grow = (wallet: number): void => {
        sizes[wallet] = (sizes[wallet] ?? 0) + 65;
        const address = wallets[wallet] ?? '';
        for (const each of lookups)
          fake.scriptsOf(each).set(address, serving(each, sampleItems(each, sizes[wallet] ?? 0)));
      };
      [0, 1].forEach(grow);
      const kept = new Map<string, { readonly tag: string; readonly text: string }>();
      const askFor = async (text: string, wallet: number, first: number): Promise<void> => {
        const variables = { address: wallets[wallet], first };
        const name = JSON.stringify([text, variables]);
        const tag = kept.get(name)?.tag;
        const answer = await gateway.get(text, variables, tag === undefined ? {} : { 'if-none-match': tag });
        seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
        if (answer.status === 200) kept.set(name, { tag: String(answer.headers.etag), text: answer.text });
        const whole = await gateway.get(text, variables);
        expect(JSON.parse(kept.get(name)?.text ?? '').data).toEqual(JSON.parse(whole.text).data);
      };
      for (const each of steps) {
        if (each.kind === 'ask') await askFor(each.ofAll ? WALLET : document, each.wallet, each.first);
        if (each.kind === 'grow') grow(each.wallet);
        if (each.kind === 'wait') clock.advance(each.ms);
        if (each.kind !== 'deliver') continue;
        const address = wallets[each.wallet];
        expect(await deliver(data.deliveryUrl, { body: { transactions: [{ address }] } })).toBe(200);
      }
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 30 }), play), {
      numRuns: runs(15),
    });
    expect([...seen.keys()].toSorted()).toEqual([200, 304]);
  },
);
