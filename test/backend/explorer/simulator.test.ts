import { describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../../src/backend/explorer/client/operations.ts';
import { madeUp, TOKEN } from '../../support/blockscout/made-up.ts';
import { startBlockscout } from '../../support/blockscout/server.ts';
import { problemsOf } from '../../support/blockscout/shapes.ts';
import { hashOf } from '../indexer/support/blocks.ts';
import { LISTS, startAsking } from './support/asking.ts';

/** The simulated explorer against the published interface, in words that neither it nor the client shares. */

describe.each(['11.2.7', '12.0.2'])('The simulator of version %s', (version) => {
  test('answers in the published shapes', async () => {
    const contents = madeUp({ transactions: 60, transfers: 60 });
    await using explorer = await startBlockscout({ chains: [{ id: 1, contents, version }] });
    await using asking = startAsking();
    const { client } = asking;
    const chain = explorer.chain();
    for (const list of LISTS) await asking.until(list.walk(client, chain));
    await asking.until(client.one(chain, OPERATIONS.token, { token: TOKEN }, client.lookup('one')));
    await asking.until(client.one(chain, OPERATIONS.block, { block: 1 }, client.lookup('one')));
    const hash = hashOf('transaction', 0);
    await asking.until(client.one(chain, OPERATIONS.transaction, { hash }, client.lookup('one')));
    const judged = new Set<string>();
    for (const { path, target } of [...explorer.requests]) {
      const response = await fetch(`${explorer.url}${target}`, { headers: { 'user-agent': 'test' } });
      const problems = problemsOf(path.replace('/v2', ''), await response.json());
      if (problems === null) continue;
      expect(problems).toEqual([]);
      judged.add(path.replaceAll(/0x\w+/g, ''));
    }
    expect(judged.size).toBe(15);
  });

  test.each(['limit', 'apikey', 'page'])('refuses a parameter %s that a list does not have', async (name) => {
    await using explorer = await startBlockscout({ chains: [{ id: 1, contents: madeUp(), version }] });
    const response = await fetch(`${explorer.url}/api/v2/tokens?${name}=1`);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ errors: [{ source: { pointer: `/${name}` } }] });
  });
});

test('hides scam tokens from who does not ask for them', async () => {
  await using explorer = await startBlockscout({ chains: [{ id: 1, contents: madeUp({ tokens: 20 }) }] });
  const count = async (headers: Record<string, string>) => {
    const response = await fetch(`${explorer.url}/api/v2/tokens?q=coin`, { headers });
    const { items }: { readonly items: readonly unknown[] } = await response.json();
    return items.length;
  };
  expect(await count({})).toBe(18);
  expect(await count({ 'show-scam-tokens': 'true' })).toBe(20);
});
