import { expect, test } from 'vitest';
import { expectUnchanged, ifNot, tagOf } from '../support/clients/conditional.ts';
import { startTrusting } from '../support/gateway/trusted.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';
import { growing, hasRun } from '../support/redis/sharing-gateways.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

const DOCUMENT = `query ($address: Address!) {
  wallet(address: $address) { transactions(first: 5) { edges { cursor node { hash } } } }
}`;

test("a gateway knows another one's tag, and asks the service nothing", async (context) => {
  await needRedis(context);
  const redis = await startRedis();
  await using fake = await startFakeWallets();
  const env = { UPSTREAM_URL: fake.url, AUTH: 'open', REDIS_URL: redis.url, CACHE_HEAD_MS: '600000' };
  await using first = await startTrusting([DOCUMENT], env);
  await using second = await startTrusting([DOCUMENT], env);
  const address = growing(fake);
  const answer = await first.get(DOCUMENT, { address });
  await hasRun(first, 'store');
  expectUnchanged(await second.get(DOCUMENT, { address }, ifNot(tagOf(answer))));
  expect(fake.requests).toHaveLength(1);
});
