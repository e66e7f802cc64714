import { expect, test } from 'vitest';
import { connectAgent } from '../../support/clients/agent.ts';
import { folderOf } from '../../support/folder.ts';
import { watchLiveness } from '../../support/gateway/liveness.ts';
import { startGatewayProcess } from '../../support/gateway/process.ts';
import { idOf, trustedFile } from '../../support/gateway/trusted.ts';
import { runs } from '../../support/runs.ts';
import { addressOf, history } from '../../support/upstream/builders.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';

const WALLET = addressOf(0xa9e7);
const FIELD = 'transactions(first: 1000) { nodes { hash data chain } }';
const LARGE = `query Large { wallet(address: "${WALLET}") { ${Array.from({ length: 6 }, (_, index) => `a${index}: ${FIELD}`).join(' ')} } }`;

/** Of 4 KB each: the answer of six thousand of them is within the limit. Their chain needs up to four bytes for a character. */
const items = history(1000).map((each, index) => ({
  ...each,
  chain: `${'x'.repeat(index % 4)}Ü"\\€\n😀`,
  data: `0x${index.toString(16).padStart(4, '0').repeat(1024)}`,
}));

test('an answer near the limit of size comes whole, and never holds the event loop for long', async () => {
  await using folder = await folderOf({ 'trusted.json': trustedFile([LARGE]) });
  await using gateway = await startGatewayProcess({
    MCP: 'on',
    TRUSTED_DOCUMENTS: folder.path('trusted.json'),
  });
  gateway.fake.transactions.set(WALLET, servingTransactions(items));
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'accept-encoding': 'identity' },
    body: JSON.stringify({ documentId: idOf(LARGE) }),
  });
  const { data } = JSON.parse(await response.text());
  // A comparison that fails would print 25 MB.
  const expected = JSON.stringify(data);
  await using liveness = await watchLiveness(gateway);
  for (const mode of ['legacy', 'auto'] as const) {
    await using agent = await connectAgent(gateway, { mode });
    const answers: Awaited<ReturnType<typeof agent.call>>[] = [];
    const waits: number[] = [];
    // The first call also compiles what it runs. The machine may hold up some of the others, but the SDK's own way of writing such
    // an answer takes more in each.
    for (let call = 0; call < 5 && !(Math.min(...waits.slice(1)) < 150); call += 1) {
      answers.push(await agent.call('Large'));
      waits.push(await liveness.longestWait());
    }
    expect(Math.min(...waits.slice(1))).toBeLessThan(150);
    for (const answer of answers) {
      expect(answer.isError).toBe(false);
      expect(JSON.stringify(answer.data) === expected).toBe(true);
    }
  }
  expect(data.wallet.a5.nodes[999].chain).toContain('€\n😀');

  // Together they are more than may be unsent: each waits for those before it, and none is cut.
  await using agent = await connectAgent(gateway, { mode: 'auto' });
  const crowd = await Promise.all(Array.from({ length: runs(8, 4) }, () => agent.call('Large')));
  for (const answer of crowd) expect(JSON.stringify(answer.data) === expected).toBe(true);
});
