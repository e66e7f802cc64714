import fc, { type GeneratorValue } from 'fast-check';
import { parse, print } from 'graphql';
import { afterAll, expect, test } from 'vitest';
import { lookups } from '../../../src/lookups/registry.ts';
import { schema } from '../../../src/schema.ts';
import { askInParts, EVENT_STREAM, MULTIPART, mergeParts, NEWEST } from '../../support/clients/parts.ts';
import { createTestClock } from '../../support/gateway/clock.ts';
import { byKey, withKey } from '../../support/gateway/keys.ts';
import { startGateway } from '../../support/gateway/start.ts';
import { withParts } from '../../support/lookups/parted-document.ts';
import { randomBody } from '../../support/lookups/random-body.ts';
import { RandomDocument } from '../../support/lookups/random-document.ts';
import { sampleItems } from '../../support/lookups/samples.ts';
import { runs } from '../../support/runs.ts';
import { freshAddress } from '../../support/upstream/builders.ts';
import { serving } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** All parts together are the answer to the document without the directives, at the same cost: for any document, in each format. */

const made = new AsyncDisposableStack();
afterAll(() => made.disposeAsync());
const fake = made.use(await startFakeWallets());
const gateway = made.use(
  await startGateway(
    {
      ...byKey,
      UPSTREAM_URL: fake.url,
      UPSTREAM_TIMEOUT_MS: '60000',
      CACHE_HEAD_MS: '600000',
      CACHE_TAIL_MS: '600000',
      MAX_COMPUTE_UNITS: '1000000',
      LOG_LEVEL: 'error',
    },
    // What is stale, or late, would depend on how fast the machine is.
    createTestClock(),
  ),
);

const newWallet = (): string => {
  const address = freshAddress();
  for (const lookup of lookups) {
    const count = lookup.name === 'transactions' ? 230 : 30;
    fake.scriptsOf(lookup).set(address, serving(lookup, sampleItems(lookup, count)));
  }
  return address;
};

/** A wallet whose pages hold anything. */
const oddWallet = (gen: GeneratorValue): string => {
  const address = freshAddress();
  const headers = { 'content-type': 'application/json' };
  for (const lookup of lookups) {
    const text = randomBody(gen, lookup);
    fake.scriptsOf(lookup).set(address, () => ({ text, headers }));
  }
  return address;
};

const isInParts = ({ headers }: Response): boolean =>
  !headers.get('content-type')?.startsWith('application/');

test('any document gets in parts what it gets at once', async () => {
  let [compared, parted] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (gen) => {
      const random = new RandomDocument(gen, schema);
      // An object literal can't be merged into under this name.
      const text = random.text.replaceAll('__proto__', 'prototype');
      const variables = random.variables([newWallet(), newWallet()], null);
      const { data, errors, extensions } = await gateway.query(text, variables, withKey(freshAddress()));
      const query = print(withParts(gen, parse(text), 'anywhere'));
      for (const accept of [MULTIPART, NEWEST, EVENT_STREAM]) {
        // Clients with other keys share no pages.
        const headers = withKey(freshAddress());
        const answer = await askInParts(gateway.url, { query, variables, accept, headers });
        // One document in five is refused.
        fc.pre(isInParts(answer.response));
        const parts = await answer.rest();
        parted += parts.length > 1 ? 1 : 0;
        if (parts.length > 1) expect(parts.at(-1)).toMatchObject({ hasNext: false, extensions: {} });
        if (errors || !data || parts.some((part) => part.errors)) continue;
        compared += 1;
        expect({ query, data: mergeParts(parts) }).toEqual({ query, data });
        const { requests } = parts.at(-1)?.extensions?.upstream ?? {};
        expect({ query, requests }).toEqual({ query, requests: extensions.upstream.requests });
      }
    }),
    { numRuns: runs(40, 16), endOnFailure: true },
  );
  expect(parted).toBeGreaterThan(10);
  expect(compared).toBeGreaterThan(4);
});

test('any document over any bodies ends, with errors of the catalogue alone', async () => {
  let failed = 0;
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (gen) => {
      const random = new RandomDocument(gen, schema);
      const variables = random.variables([oddWallet(gen), oddWallet(gen)], null);
      const query = print(withParts(gen, parse(random.text), 'anywhere'));
      for (const accept of [MULTIPART, NEWEST]) {
        const headers = withKey(freshAddress());
        const answer = await askInParts(gateway.url, { query, variables, accept, headers });
        fc.pre(isInParts(answer.response));
        const parts = await answer.rest();
        const added = parts.flatMap(({ incremental = [], completed = [] }) => [...incremental, ...completed]);
        const errors = [...parts, ...added].flatMap((each) => each.errors ?? []);
        failed += errors.length > 0 ? 1 : 0;
        expect(errors.map(({ extensions }) => extensions.code)).not.toContain('INTERNAL_SERVER_ERROR');
        expect(parts.at(-1)).toMatchObject({ hasNext: false, extensions: {} });
      }
    }),
    { numRuns: runs(40, 16), endOnFailure: true },
  );
  expect(failed).toBeGreaterThan(0);
});
