import fc, { type GeneratorValue } from 'fast-check';
import { assertObjectType, type GraphQLSchema, parse } from 'graphql';
import { afterAll, expect, test, vi } from 'vitest';
import { lookups } from '../../../src/lookups/registry.ts';
import { plannedSchema, schema } from '../../../src/schema.ts';
import { createTestClock } from '../../support/gateway/clock.ts';
import { byKey, withKey } from '../../support/gateway/keys.ts';
import { type Gateway, startGateway } from '../../support/gateway/start.ts';
import { randomBody } from '../../support/lookups/random-body.ts';
import { RandomDocument } from '../../support/lookups/random-document.ts';
import { runs } from '../../support/runs.ts';
import { freshAddress } from '../../support/upstream/builders.ts';
import { type SeenRequest, startFakeService } from '../../support/upstream/fake-service.ts';

/** The lists that plans write are, with all around them, what the executor makes: for any document and any body. */

/** The documents of one run, and the pairs of wallets that each asks for: a document's plans are used again. */
const DOCUMENTS = 4;
const PAIRS = 3;

const made = new AsyncDisposableStack();
afterAll(() => made.disposeAsync());

const bodies = new Map<string, string>();
const service = made.use(
  await startFakeService(
    Object.fromEntries(
      lookups.map(({ name }) => [name, ({ address }: SeenRequest) => json(bodies.get(`${name} ${address}`))]),
    ),
  ),
);
const json = (text = '{}') => ({ text, headers: { 'content-type': 'application/json' } });

/** Nothing expires while two gateways are compared, not even pages with failures by the clock below, and each accepts the other's cursors. */
const settings = {
  ...byKey,
  UPSTREAM_URL: service.url,
  DELIVERY_SECRET: 'the same for both gateways',
  CACHE_HEAD_MS: '3600000',
  CACHE_TAIL_MS: '3600000',
  MAX_COMPUTE_UNITS: '1000000',
  LOG_LEVEL: 'error',
};
const { now } = createTestClock();
const fast = made.use(await startGateway(settings, { readPath: 'fast', now }));
const plain = made.use(await startGateway(settings, { readPath: 'plain', now }));

const newWallet = (gen: GeneratorValue): string => {
  const address = freshAddress();
  for (const lookup of lookups) bodies.set(`${lookup.name} ${address}`, randomBody(gen, lookup));
  return address;
};

/** Each case is of a client of its own: the rate of new documents is limited for each. */
const answerOf = async (gateway: Gateway, body: string, client: string): Promise<string> =>
  (await gateway.post(body, withKey(client))).body;

/** How many cases plans wrote, and how many of those have errors. */
const seen = { cases: 0, planned: 0, withErrors: 0 };

const compare = async (
  document: RandomDocument,
  wallets: readonly [string, string],
  after: string | null,
  client: string,
): Promise<string> => {
  const variables = document.variables(wallets, after);
  const request = JSON.stringify({ query: document.text, variables });
  const expected = await answerOf(plain, request, client);
  const answer = await answerOf(fast, request, client);
  if (answer !== expected) expect({ request, answer }).toEqual({ request, answer: expected });
  const isPlanned = expected.includes('"data":') && plannedSchema.canExecute(parse(document.text));
  seen.cases += 1;
  seen.planned += isPlanned ? 1 : 0;
  seen.withErrors += isPlanned && expected.startsWith('{"errors"') ? 1 : 0;
  return /"cursor":"([^"]+)"/.exec(expected)?.[1] ?? after ?? '';
};

/** Counts how often each schema's `nodes` are resolved. */
const spyOnNodes = (of: GraphQLSchema) => {
  const { nodes } = assertObjectType(of.getType('TransactionConnection')).getFields();
  if (!nodes?.resolve) throw new TypeError('Expected a resolver of nodes.');
  return vi.spyOn(nodes as { resolve: typeof nodes.resolve & object }, 'resolve');
};

test('any document over any bodies has the same answer, with its errors in the same order', async () => {
  const [written, executed] = [plannedSchema.schema, schema].map(spyOnNodes);
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (gen) => {
      bodies.clear();
      const client = freshAddress();
      const documents = Array.from({ length: DOCUMENTS }, () => new RandomDocument(gen, schema));
      for (let pair = 0; pair < PAIRS; pair += 1) {
        const wallets = [newWallet(gen), newWallet(gen)] as const;
        let after: string | null = null;
        for (const document of documents) after = await compare(document, wallets, after, client);
      }
    }),
    { numRuns: runs(12, 12), endOnFailure: true },
  );
  // Each gateway goes its own way.
  expect(written?.mock.calls.length).toBeGreaterThan(seen.planned / 4);
  expect(executed?.mock.calls.length).toBeGreaterThanOrEqual(written?.mock.calls.length ?? 0);
  expect(seen.planned).toBeGreaterThan(seen.cases / 4);
  expect(seen.withErrors).toBeGreaterThan(seen.planned / 10);
  if (process.env.FC_RUNS) process.stdout.write(`${JSON.stringify(seen)}\n`);
});
