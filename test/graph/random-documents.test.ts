import fc, { type GeneratorValue } from 'fast-check';
import {
  assertObjectType,
  type DocumentNode,
  type GraphQLSchema,
  parse,
  print,
  validate,
  visit,
} from 'graphql';
import { afterAll, expect, test, vi } from 'vitest';
import { lookups } from '../../src/lookups/registry.ts';
import { plannedSchema, schema } from '../../src/schema.ts';
import {
  askInParts,
  EVENT_STREAM,
  errorsIn,
  MULTIPART,
  mergeParts,
  NEWEST,
  type Part,
} from '../support/clients/parts.ts';
import { createTestClock } from '../support/gateway/clock.ts';
import { byKey, withKey } from '../support/gateway/keys.ts';
import { type Gateway, type GraphQLReply, startGateway } from '../support/gateway/start.ts';
import { withParts } from '../support/lookups/parted-document.ts';
import { randomBody } from '../support/lookups/random-body.ts';
import { RandomDocument } from '../support/lookups/random-document.ts';
import { sampleItems } from '../support/lookups/samples.ts';
import { runs } from '../support/runs.ts';
import { freshAddress } from '../support/upstream/builders.ts';
import { serving } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';
import { unexplainedNulls, withTypenames } from './schema/support/nulls.ts';

/**
 * What holds for any document over any bodies: lists that plans write are those that the executor makes, with their errors in
 * the same order; so are the parts of an answer, which together are the answer; null at a place that is marked
 * `@semanticNonNull` comes with an error; and errors are those of the catalogue.
 */

/** The documents of one case. Each asks for two pairs of wallets: its plans are used again. */
const DOCUMENTS = 4;

const made = new AsyncDisposableStack();
afterAll(() => made.disposeAsync());
const fake = made.use(await startFakeWallets());

/** Nothing expires while two gateways are compared, by the clock below not even pages with failures. Each takes the other's cursors. */
const settings = {
  ...byKey,
  UPSTREAM_URL: fake.url,
  UPSTREAM_TIMEOUT_MS: '60000',
  DELIVERY_SECRET: 'the same for both gateways',
  CACHE_HEAD_MS: '3600000',
  CACHE_TAIL_MS: '3600000',
  CACHE_STALE_MS: '0',
  MAX_COMPUTE_UNITS: '1000000',
  LOG_LEVEL: 'error',
};
const { now } = createTestClock();
const fast = made.use(await startGateway(settings, { readPath: 'fast', now }));
const plain = made.use(await startGateway(settings, { readPath: 'plain', now }));

/** A wallet of several pages, one whose only pages hold anything, and one of which some lists fail as well. */
type Kind = 'pages' | 'odd' | 'failing';

const newWallet = (gen: GeneratorValue, kind: Kind): string => {
  const address = freshAddress();
  const headers = { 'content-type': 'application/json' };
  for (const lookup of lookups) {
    const items = sampleItems(lookup, lookup.name === 'transactions' ? 230 : 30);
    const text = kind === 'pages' ? '' : randomBody(gen, lookup);
    const status = kind === 'failing' ? gen(fc.constantFrom, 200, 200, 200, 400) : 200;
    const answer = kind === 'pages' ? serving(lookup, items) : () => ({ status, text, headers });
    fake.scriptsOf(lookup).set(address, answer);
  }
  return address;
};

const seen = {
  cases: 0,
  planned: 0,
  withErrors: 0,
  parted: 0,
  merged: 0,
  plannedParts: 0,
  partsWithErrors: 0,
};

/**
 * A page that two fields want, one after the other, counts as cached; one that both want at the same moment does not. Which
 * of these it is depends on the turns of the event loop that either way takes.
 */
const withoutCached = (body: string): string => body.replace(/"cached":\d+/g, '"cached":0');

const codesIn = (errors: GraphQLReply['errors'] = []) => errors.map(({ extensions }) => extensions.code);

/** Asks both gateways. Returns a cursor of the answer, if it has one. */
const compareAnswers = async (
  text: string,
  hasTypenames: boolean,
  variables: Record<string, unknown>,
  client: string,
): Promise<string | undefined> => {
  const request = JSON.stringify({ query: text, variables });
  const answerOf = async (gateway: Gateway) =>
    withoutCached((await gateway.post(request, withKey(client))).body);
  const expected = await answerOf(plain);
  const answer = await answerOf(fast);
  if (answer !== expected) expect({ request, answer }).toEqual({ request, answer: expected });
  const { data, errors = [] }: Pick<GraphQLReply, 'data'> & { errors?: GraphQLReply['errors'] } =
    JSON.parse(answer);
  expect({ request, codes: codesIn(errors) }).not.toMatchObject({
    codes: expect.arrayContaining(['INTERNAL_SERVER_ERROR']),
  });
  if (hasTypenames) {
    const { unexplained } = unexplainedNulls(schema, text, data, errors);
    expect({ request, unexplained }).toEqual({ request, unexplained: [] });
  }
  const isPlanned = data !== undefined && plannedSchema.canExecute(parse(text));
  seen.cases += 1;
  seen.planned += isPlanned ? 1 : 0;
  seen.withErrors += isPlanned && errors.length > 0 ? 1 : 0;
  return /"cursor":"([^"]+)"/.exec(expected)?.[1];
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
    last: { extensions: withoutCached(JSON.stringify(last?.extensions)), errors: last?.errors?.length },
  };
};

/** The parts of an answer, or its text where it comes whole, as for a refused document. Each client is new: they share no pages. */
const partsOf = async ({ url }: Gateway, query: string, variables: object, accept: string) => {
  const headers = withKey(freshAddress());
  const answer = await askInParts(url, { query, variables: { ...variables }, accept, headers });
  const isWhole = answer.response.headers.get('content-type')?.startsWith('application/');
  if (isWhole) return { whole: withoutCached(await answer.response.text()) };
  const parts = await answer.rest();
  if (accept !== EVENT_STREAM || parts.length > 1)
    expect(parts.at(-1)).toMatchObject({ hasNext: false, extensions: {} });
  expect({ query, codes: codesIn([...errorsIn(parts)]) }).not.toMatchObject({
    codes: expect.arrayContaining(['INTERNAL_SERVER_ERROR']),
  });
  return { parts };
};

const compareParts = async (
  gen: GeneratorValue,
  where: 'anywhere' | 'around lists',
  random: RandomDocument,
  wallets: readonly [string, string],
) => {
  const variables = random.variables(wallets, null);
  // An object literal can't be merged into under this name.
  const document = parse(random.text.replaceAll('__proto__', 'prototype'));
  const parted = withParts(gen, document, where);
  // A list that is streamed can't have two uses.
  const query = print(validate(schema, parted).length === 0 ? parted : withoutStreams(parted));
  const whole = await plain.query(print(document), variables, withKey(freshAddress()));
  for (const accept of [MULTIPART, NEWEST, EVENT_STREAM]) {
    const answer = await partsOf(fast, query, variables, accept);
    if (accept !== EVENT_STREAM) {
      const expected = await partsOf(plain, query, variables, accept);
      const outcome = (of: typeof answer) => (of.parts ? outcomeOf(of.parts) : of);
      expect({ query, ...outcome(answer) }).toEqual({ query, ...outcome(expected) });
    }
    const { parts } = answer;
    if (!parts) continue;
    const errors = errorsIn(parts);
    const isPlanned = plannedSchema.canExecute(parse(query), accept === NEWEST);
    seen.parted += parts.length > 1 ? 1 : 0;
    seen.plannedParts += isPlanned ? 1 : 0;
    seen.partsWithErrors += isPlanned && errors.length > 0 ? 1 : 0;
    if (whole.errors || !whole.data || errors.length > 0) continue;
    seen.merged += 1;
    expect({ query, data: mergeParts(parts) }).toEqual({ query, data: whole.data });
    const { requests } = parts.at(-1)?.extensions?.upstream ?? {};
    expect({ query, requests }).toEqual({ query, requests: whole.extensions.upstream.requests });
  }
};

/** Counts how often each schema's `nodes` are resolved. */
const spyOnNodes = (of: GraphQLSchema) => {
  const { nodes } = assertObjectType(of.getType('TransactionConnection')).getFields();
  if (!nodes?.resolve) throw new TypeError('Expected a resolver of nodes.');
  return vi.spyOn(nodes as { resolve: typeof nodes.resolve & object }, 'resolve');
};

test('any document over any bodies has the same answer and the same parts, whichever way it is read', async () => {
  const [written, executed] = [plannedSchema.schema, schema].map(spyOnNodes);
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (gen) => {
      // Each case is of a client of its own: the rate of new documents is limited for each.
      const client = freshAddress();
      const first = new RandomDocument(gen, schema);
      const others = Array.from({ length: DOCUMENTS - 1 }, () => new RandomDocument(gen, schema));
      const documents = [first, ...others];
      for (const kind of ['pages', gen(fc.constantFrom, 'odd' as const, 'failing' as const)] as const) {
        const wallets = [newWallet(gen, kind), newWallet(gen, kind)] as const;
        let after: string | null = null;
        for (const [index, document] of documents.entries()) {
          const hasTypenames = index % 2 === 0;
          const text = hasTypenames ? print(withTypenames(document.text)) : document.text;
          const variables = document.variables(wallets, after);
          after = (await compareAnswers(text, hasTypenames, variables, client)) ?? after ?? '';
        }
        if (kind === 'pages') await compareParts(gen, 'anywhere', first, wallets);
        else
          for (const document of others.slice(0, 2))
            await compareParts(gen, 'around lists', document, wallets);
      }
    }),
    { numRuns: runs(24, 12), endOnFailure: true },
  );
  if (process.env.FC_RUNS) process.stdout.write(`${JSON.stringify(seen)}\n`);
  // Each gateway goes its own way.
  expect(written?.mock.calls.length).toBeGreaterThan(seen.planned / 4);
  expect(executed?.mock.calls.length).toBeGreaterThanOrEqual(written?.mock.calls.length ?? 0);
  // All that is stated was seen.
  expect(seen.planned).toBeGreaterThan(seen.cases / 8);
  expect(seen.withErrors).toBeGreaterThan(seen.planned / 10);
  expect(seen.parted).toBeGreaterThan(10);
  expect(seen.merged).toBeGreaterThan(4);
  expect(seen.plannedParts).toBeGreaterThan(seen.parted / 10);
  expect(seen.partsWithErrors).toBeGreaterThan(0);
});
