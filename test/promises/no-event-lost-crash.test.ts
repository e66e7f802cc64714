import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DEMO_SUBSCRIBERS } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { startSandbox } from '../../src/backend/sandbox/sandbox.ts';
import type { Hex } from '../../src/backend/types.ts';
import { deliveriesOf } from '../support/clients/deliver.ts';
import { type Edge, eventually, subscribe } from '../support/clients/subscribe.ts';
import { spawnGateway } from '../support/gateway/spawn.ts';

/** The shipped process is killed while a service delivers, which repeats what it has not answered. */

test('after kill -9 during deliveries of the sandbox and a restart, a resuming client gets each block once', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-crash-'));
  const lost: string[] = [];
  // Its retries go on for 46 seconds and more: the second gateway may take that long to start on a busy machine.
  const sandbox = await startSandbox({ retryBaseMs: 3000, log: (message) => lost.push(message) });
  const env = {
    UPSTREAM_URL: sandbox.url,
    UPSTREAM_API_KEY: sandbox.apiKey,
    AUTH: 'open',
    DATA_DIR: dataDir,
  };
  const expected: string[] = [];
  const tick = () => {
    const delivered = sandbox.tick().filter(({ transactions }) => transactions.some(isDelivered));
    expected.push(...delivered.map(({ chain, number }) => `${chain.id}:${number}`));
  };
  const only = { filter: { types: ['TRANSACTIONS'] } };
  const seen: string[] = [];
  try {
    await using first = await spawnGateway(env);
    const { deliveryUrl, head } = await deliveriesOf(first.url);
    sandbox.connectDemo(deliveryUrl);
    await using before = subscribe(first.url, { after: head, ...only });
    for (let count = 0; count < 20; count += 1) tick();
    await eventually(() => before.edges.length > 5);
    await first.end('SIGKILL');
    seen.push(...before.edges.map(blockOf));
    const cursor = before.edges.at(-1)?.cursor ?? '';
    for (let count = 0; count < 5; count += 1) tick();

    await using second = await spawnGateway({ ...env, PORT: new URL(first.url).port });
    await using after = subscribe(second.url, { after: cursor, ...only });
    for (let count = 0; count < 5; count += 1) tick();
    await sandbox.webhooks.settled();
    await eventually(
      () => seen.length + after.edges.length >= expected.length,
      () => ({ lost, seen: seen.length, after: after.edges.length, expected: expected.length }),
    );
    seen.push(...after.edges.map(blockOf));
    expect(seen.toSorted()).toEqual(expected.toSorted());
  } finally {
    await sandbox.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
});

/** Whether the sandbox's demo webhooks deliver the transaction: a subscribed wallet sent or received it. */
const isDelivered = ({ from, to }: { from: Hex; to: Hex | null }): boolean =>
  DEMO_SUBSCRIBERS.some((address) => address === from || address === to);

/** The block of a delivery of transactions. */
const blockOf = ({ node }: Edge): string => {
  const { transactions } = node.payload as { transactions: { chain_id: number; block_number: number }[] };
  return `${transactions[0]?.chain_id}:${transactions[0]?.block_number}`;
};
