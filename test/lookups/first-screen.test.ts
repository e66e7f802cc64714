import { expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { startGateway } from '../support/gateway/start.ts';

const FIRST_SCREEN = `query ($address: Address!) {
  wallet(address: $address) {
    portfolio(chainIds: [1, 8453], priceHoursAgo: [24]) {
      totalUsd isComplete change { changeRatio } byChain { chainId totalUsd share }
      top(first: 10) { id amount valueUsd token { symbol logo } priceHistory(hoursAgo: [24]) { changeRatio } }
    }
    activity(first: 20, chainIds: [1, 8453]) { nodes { id type value token { symbol logo } } }
    collectibles(first: 20, chainIds: [1, 8453]) { nodes { id name imageUrl } }
  }
}`;

test("a wallet's first screen costs 7 compute units cold, and none warm", async () => {
  await using gateway = await startGateway({ CACHE_HEAD_MS: '60000' });
  const show = () => gateway.query(FIRST_SCREEN, { address: demoAddress('thin') });
  const [cold, warm] = [await show(), await show()];
  expect(cold.errors).toBeUndefined();
  expect(cold.data).toMatchObject({ wallet: { portfolio: { isComplete: true } } });
  expect(cold.extensions.upstream).toMatchObject({ requests: 3, computeUnits: 7 });
  expect(warm.extensions.upstream).toMatchObject({ requests: 0, computeUnits: 0 });
  expect(warm.data).toEqual(cold.data);
});
