import { expect, test, vi } from 'vitest';
import { connectAgent } from '../../support/clients/agent.ts';
import { folderOf } from '../../support/folder.ts';
import { startGateway } from '../../support/gateway/start.ts';
import { idOf, trustedFile } from '../../support/gateway/trusted.ts';
import { runs } from '../../support/runs.ts';
import { addressOf, history } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';
import { startFakeWallets } from '../../support/upstream/wallets.ts';

const WALLET = addressOf(0xa9e7);
const FIELD = 'transactions(first: 1000) { nodes { hash data chain } }';
const LARGE = `query Large { wallet(address: "${WALLET}") { ${Array.from({ length: 6 }, (_, index) => `a${index}: ${FIELD}`).join(' ')} } }`;

/** Of 1 KB each: the answer of six thousand of them is within the limit. Their chain needs up to four bytes for a character. */
const items = history(1000).map((each, index) => ({
  ...each,
  chain: `${'x'.repeat(index % 4)}Ü"\\€\n😀`,
  data: `0x${index.toString(16).padStart(4, '0').repeat(256)}`,
}));
const MAX_ANSWER_MB = '8';

/** What JSON.stringify makes of one part of an answer, which is all that it makes before others have their turn. */
const LONGEST_PART = 1024 * 1024;

test('an answer near the limit of size comes whole, and is never written in one piece', async () => {
  await using fake = await startFakeWallets();
  fake.transactions.set(WALLET, servingTransactions(items));
  await using folder = await folderOf({ 'trusted.json': trustedFile([LARGE]) });
  await using gateway = await startGateway({
    UPSTREAM_URL: fake.url,
    MCP: 'on',
    TRUSTED_DOCUMENTS: folder.path('trusted.json'),
    MAX_ANSWER_MB,
  });
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'accept-encoding': 'identity' },
    body: JSON.stringify({ documentId: idOf(LARGE) }),
  });
  const { data } = JSON.parse(await response.text());
  expect(data.wallet.a5.nodes[999].chain).toContain('€\n😀');
  // A comparison that fails would print 7 MB.
  const expected = JSON.stringify(data);
  expect(expected.length).toBeGreaterThan(6 * LONGEST_PART);

  for (const mode of ['legacy', 'auto'] as const) {
    await using agent = await connectAgent(gateway, { mode });
    // The SDK's own way of writing such an answer is one call.
    const stringify = vi.spyOn(JSON, 'stringify');
    const answer = await agent.call('Large');
    const lengths = stringify.mock.results.map(({ value }) => String(value).length);
    stringify.mockRestore();
    expect(Math.max(...lengths)).toBeLessThan(LONGEST_PART);
    expect(answer.isError).toBe(false);
    expect(JSON.stringify(answer.data) === expected).toBe(true);
  }

  // Together they are more than may be unsent: each waits for those before it, and none is cut.
  await using agent = await connectAgent(gateway, { mode: 'auto' });
  const crowd = await Promise.all(Array.from({ length: runs(8, 4) }, () => agent.call('Large')));
  for (const answer of crowd) expect(JSON.stringify(answer.data) === expected).toBe(true);
});
