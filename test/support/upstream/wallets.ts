import { type Answer, startFakeService } from './fake-service.ts';
import { servingCollectibles, servingTransactions } from './paging.ts';

/** A fake service with a script for each wallet; any other address is an empty wallet, as at the real one. */
export const startFakeWallets = async () => {
  const transactions = new Map<string, Answer>();
  const collectibles = new Map<string, Answer>();
  const empty = { transactions: servingTransactions([]), collectibles: servingCollectibles([]) };
  const service = await startFakeService({
    transactions: (request) => (transactions.get(request.address) ?? empty.transactions)(request),
    collectibles: (request) => (collectibles.get(request.address) ?? empty.collectibles)(request),
  });
  return Object.assign(service, {
    transactions,
    collectibles,
    requestsFor: (address: string) => service.requests.filter((request) => request.address === address),
  });
};

export type FakeWallets = Awaited<ReturnType<typeof startFakeWallets>>;
