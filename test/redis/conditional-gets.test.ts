import { expect, test } from 'vitest';
import { lookups } from '../../src/lookups/registry.ts';
import { expectUnchanged, ifNot, tagOf } from '../support/clients/conditional.ts';
import { startTrusting } from '../support/gateway/trusted.ts';
import { sampleItems, sampleOf } from '../support/lookups/samples.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';
import { hasRun } from '../support/redis/sharing-gateways.ts';
import { freshAddress } from '../support/upstream/builders.ts';
import { serving } from '../support/upstream/paging.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

test.for(lookups)(
  "a gateway knows another one's tag of $name, and asks the service nothing",
  async (lookup, context) => {
    await needRedis(context);
    const redis = await startRedis();
    const { parent = 'wallet(address: $address)', key } = sampleOf(lookup);
    const document = `query ($address: Address!) {
      parent: ${parent} { list: ${lookup.name}(first: 5) { edges { cursor node { ${key[0]} } } } }
    }`;
    await using fake = await startFakeWallets();
    const env = { UPSTREAM_URL: fake.url, AUTH: 'open', REDIS_URL: redis.url, CACHE_HEAD_MS: '600000' };
    await using first = await startTrusting([document], env);
    await using second = await startTrusting([document], env);
    const address = freshAddress();
    fake.scriptsOf(lookup).set(address, serving(lookup, sampleItems(lookup, 7)));
    const answer = await first.get(document, { address });
    expect(JSON.parse(answer.text).data.parent.list.edges).toHaveLength(5);
    await hasRun(first, 'store');
    expectUnchanged(await second.get(document, { address }, ifNot(tagOf(answer))));
    expect(fake.requests).toHaveLength(1);
  },
);
