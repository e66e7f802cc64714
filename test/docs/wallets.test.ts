import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway } from '../support/gateway/start.ts';
import { blocksOf, readPage } from '../support/pages.ts';

const page = await readPage('docs/wallets.md');

/** Those that the page names, of the sandbox. */
const [variables] = blocksOf(page, 'json').map((block) => JSON.parse(block));

/** Each begins with its cost. Subscriptions cost nothing. */
const queries = blocksOf(page, 'graphql').flatMap((query) => {
  const [, computeUnits, name = ''] = /^# (\d+) CU\nquery (\w+)/.exec(query) ?? [];
  return computeUnits === undefined ? [] : [{ name, query, computeUnits: Number(computeUnits) }];
});

test('docs/wallets.md says what each of its queries costs', () => {
  const documents = blocksOf(page, 'graphql').filter((document) => !document.startsWith('subscription'));
  expect(queries.length).toBe(documents.length);
  expect(queries.length).toBeGreaterThan(6);
});

// Nothing is fresh, so none is cheaper because another came before it.
let gateway: Awaited<ReturnType<typeof startGateway>>;
/** A transaction, for the query that wants its hash. */
let transaction: object | undefined;
beforeAll(async () => {
  gateway = await startGateway({ CACHE_HEAD_MS: '0', CACHE_TAIL_MS: '0' });
  const { wallet } = await gateway.data<{ wallet: { transactions: { nodes: readonly object[] } } }>(
    'query ($address: Address!) { wallet(address: $address) { transactions(first: 1) { nodes { chainId hash } } } }',
    variables,
  );
  [transaction] = wallet.transactions.nodes;
});
afterAll(() => gateway[Symbol.asyncDispose]());

test.each(queries)(
  '$name of docs/wallets.md costs what it says over the sandbox',
  async ({ query, computeUnits }) => {
    const { data, errors, extensions } = await gateway.query(query, {
      ...variables,
      ...(query.includes('$hash') && transaction),
    });
    expect(errors).toBeUndefined();
    expect(JSON.stringify(Object.values(data ?? {}))).not.toMatch(/^\[null/);
    expect(extensions).toMatchObject({ upstream: { computeUnits } });
  },
);
