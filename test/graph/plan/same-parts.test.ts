import fc, { type GeneratorValue } from 'fast-check';
import { type DocumentNode, parse, print, validate, visit } from 'graphql';
import { afterAll, expect, test } from 'vitest';
import { lookups } from '../../../src/lookups/registry.ts';
import { plannedSchema, schema } from '../../../src/schema.ts';
import {
  askInParts,
  errorsIn,
  MULTIPART,
  mergeParts,
  NEWEST,
  type Part,
} from '../../support/clients/parts.ts';
import { createTestClock } from '../../support/gateway/clock.ts';
import { byKey, withKey } from '../../support/gateway/keys.ts';
import { startGateway } from '../../support/gateway/start.ts';
import { withParts } from '../../support/lookups/parted-document.ts';
import { randomBody } from '../../support/lookups/random-body.ts';
import { RandomDocument } from '../../support/lookups/random-document.ts';
import { sampleItems } from '../../support/lookups/samples.ts';
import { runs } from '../../support/runs.ts';
import { freshAddress } from '../../support/upstream/builders.ts';
import type { SeenRequest } from '../../support/upstream/fake-service.ts';
import { serving } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

/** The parts whose lists plans write are those that the executor makes: for any document and any body, in both formats. */

const made = new AsyncDisposableStack();
afterAll(() => made.disposeAsync());
const fake = made.use(await startFakeWallets());

/** Nothing expires while two gateways are compared, not even pages with failures by the clock below, and each accepts the other's cursors. */
const settings = {
  ...byKey,
  UPSTREAM_URL: fake.url,
  UPSTREAM_TIMEOUT_MS: '60000',
  DELIVERY_SECRET: 'the same for both gateways',
  CACHE_HEAD_MS: '3600000',
  CACHE_TAIL_MS: '3600000',
  MAX_COMPUTE_UNITS: '1000000',
  LOG_LEVEL: 'error',
};
const { now } = createTestClock();
const fast = made.use(await startGateway(settings, { readPath: 'fast', now }));
const plain = made.use(await startGateway(settings, { readPath: 'plain', now }));

/** A wallet of several pages, or one whose only pages hold anything. */
const newWallet = (gen: GeneratorValue, isOdd: boolean): string => {
  const address = freshAddress();
  for (const lookup of lookups) {
    const count = lookup.name === 'transactions' ? 230 : 30;
    const items = serving(lookup, sampleItems(lookup, count));
    const text = isOdd ? randomBody(gen, lookup) : '';
    const headers = { 'content-type': 'application/json' };
    fake
      .scriptsOf(lookup)
      .set(address, (request: SeenRequest) => (isOdd ? { text, headers } : items(request)));
  }
  return address;
};

const withoutStreams = (document: DocumentNode): DocumentNode =>
  visit(document, { Directive: ({ name }) => (name.value === 'stream' ? null : undefined) });

/** What a client has when all parts have come, in whatever order they came. */
const outcomeOf = (parts: readonly Part[]) => {
  const comes = parts.map(({ incremental = [], ...part }) => ({
    ...part,
    incremental: incremental.filter(({ data, items }) => data !== null && items !== null),
  }));
  const [first, last] = [parts[0], parts.at(-1)];
  const errors = errorsIn(parts).map((error) => JSON.stringify(error).replace(/"requestId":"[^"]+"/, ''));
  return {
    first: { data: first?.data, errors: first?.errors?.map(({ message, path }) => ({ message, path })) },
    data: mergeParts(comes),
    errors: errors.sort(),
    last: { extensions: last?.extensions, errors: last?.errors?.length },
  };
};

test('any document over any bodies has the same parts, with the same errors', async () => {
  const seen = { cases: 0, planned: 0, withErrors: 0 };
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (gen) => {
      const random = new RandomDocument(gen, schema);
      // An object literal can't be merged into under this name.
      const document = parse(random.text.replaceAll('__proto__', 'prototype'));
      const parted = withParts(gen, document, 'around lists');
      // A list that is streamed can't have two uses.
      const query = print(validate(schema, parted).length === 0 ? parted : withoutStreams(parted));
      const isOdd = gen(fc.boolean);
      const variables = random.variables([newWallet(gen, isOdd), newWallet(gen, isOdd)], null);
      for (const accept of [MULTIPART, NEWEST]) {
        const headers = withKey(freshAddress());
        const ask = async (url: string) => {
          const answer = await askInParts(url, { query, variables, accept, headers });
          const isInParts = !answer.response.headers.get('content-type')?.startsWith('application/');
          return isInParts ? outcomeOf(await answer.rest()) : { whole: await answer.response.text() };
        };
        const expected = await ask(plain.url);
        const answer = await ask(fast.url);
        expect({ query, ...answer }).toEqual({ query, ...expected });
        const isPlanned = 'data' in expected && plannedSchema.canExecute(parse(query), accept === NEWEST);
        seen.cases += 1;
        seen.planned += isPlanned ? 1 : 0;
        seen.withErrors += isPlanned && expected.errors.length > 0 ? 1 : 0;
      }
    }),
    { numRuns: runs(40, 16), endOnFailure: true },
  );
  if (process.env.FC_RUNS) process.stdout.write(`${JSON.stringify(seen)}\n`);
  expect(seen.planned).toBeGreaterThan(seen.cases / 10);
  expect(seen.withErrors).toBeGreaterThan(0);
});
