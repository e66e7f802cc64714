import { collection, freshAddress, history } from './builders.ts';
import { type Answer, type Reply, type SeenRequest, startFakeService } from './fake-service.ts';
import { servingCollectibles, servingTransactions } from './paging.ts';

/** How one request is answered: as the wallet has it, with this laid over. */
export type Treatment = Pick<Reply, 'status' | 'latencyMs' | 'silent' | 'cutAfterBytes' | 'text' | 'json'> & {
  /** What is billed in place of the price, and stated; null for the price, which is not stated. */
  readonly stated?: number | null;
};

const UNBILLED: readonly number[] = [401, 402, 429];

/** A service that counts what it bills: each request that it receives, whatever becomes of the answer. */
export const startBillingService = async () => {
  let treatments: readonly Treatment[] = [];
  let received = 0;
  let billed = 0;

  const billing =
    (priceOf: (request: SeenRequest) => number, answers: ReadonlyMap<string, Answer>): Answer =>
    async (request) => {
      const { stated = null, ...treatment } = treatments[received % treatments.length] ?? {};
      received += 1;
      const isFree = treatment.status !== undefined && UNBILLED.includes(treatment.status);
      billed += stated ?? (isFree ? 0 : priceOf(request));
      const served = await answers.get(request.address)?.(request);
      const headers = { 'x-compute-units-cost': stated === null ? '' : String(stated) };
      return { ...served, ...treatment, headers };
    };
  const wallets = { transactions: new Map<string, Answer>(), collectibles: new Map<string, Answer>() };
  const service = await startFakeService({
    transactions: billing(() => 1, wallets.transactions),
    collectibles: billing(
      ({ query }) => query.get('chain_ids')?.split(',').length ?? 0,
      wallets.collectibles,
    ),
  });
  return Object.assign(service, {
    received: () => received,
    billed: () => billed,
    /** Treats the requests from now on in turn so. */
    treat(given: readonly Treatment[]): void {
      treatments = given;
    },
    /** Adds wallets, each larger than the one before. Returns their addresses. */
    addWallets: (count: number): string[] =>
      Array.from({ length: count }, (_, place) => {
        const address = freshAddress();
        wallets.transactions.set(address, servingTransactions(history(110 * place)));
        wallets.collectibles.set(address, servingCollectibles(collection(260 * place)));
        return address;
      }),
  });
};

export type BillingService = Awaited<ReturnType<typeof startBillingService>>;
