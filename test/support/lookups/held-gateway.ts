import { expect } from 'vitest';
import type { ReadPath } from '../../../src/app/startup.ts';
import { deliver } from '../clients/deliver.ts';
import { scrape } from '../gateway/prometheus.ts';
import { startGateway } from '../gateway/start.ts';
import { requestsToBe } from '../gateway/wait-for-requests.ts';
import { collection, history } from '../upstream/builders.ts';
import type { Answer } from '../upstream/fake-service.ts';
import { servingCollectibles, servingTransactions } from '../upstream/paging.ts';
import { startFakeWallets } from '../upstream/wallets.ts';

const ONE = { 'x-service-api-key': 'the-key-of-the-first-client' };

/** A request for a wallet, whose client can leave. */
export type Asked = { readonly answer: Promise<string>; leave(): void };

type Question = {
  readonly query: string;
  readonly variables: { readonly address: string; readonly first?: number };
  readonly headers?: Readonly<Record<string, string>>;
};

/** A gateway over an upstream of its own, which holds its answers until `release`. */
const startHeldGateway = async (readPath: ReadPath) => {
  await using made = new AsyncDisposableStack();
  const fake = made.use(await startFakeWallets());
  const gateway = made.use(
    await startGateway(
      {
        UPSTREAM_URL: fake.url,
        UPSTREAM_API_KEY: undefined,
        UPSTREAM_TIMEOUT_MS: '60000',
        AUTH: 'key',
        // What is stale would depend on how fast the machine is.
        CACHE_HEAD_MS: '600000',
        CACHE_TAIL_MS: '600000',
        DELIVERY_SECRET: 'the same for all gateways',
      },
      { readPath },
    ),
  );
  let gate = Promise.withResolvers<void>();
  const running = made.move();

  return {
    fake,
    gateway,
    /** Has upstream hold what is served from now on. Returns the function that lets go what was held before. */
    hold(): () => void {
      const { resolve } = gate;
      gate = Promise.withResolvers();
      return resolve;
    },
    release: () => gate.resolve(),
    /** Holds the answer to each request. */
    held(answer: Answer): Answer {
      const { promise } = gate;
      return async (request) => {
        await promise;
        return answer(request);
      };
    },
    /** Serves this many items of both lists; the requests from number `heldFrom` on are held. */
    serve(wallet: string, count: number, heldFrom = 1): void {
      const { promise } = gate;
      let requests = 0;
      const held =
        (answer: Answer): Answer =>
        async (request) => {
          requests += 1;
          if (requests >= heldFrom) await promise;
          return answer(request);
        };
      fake.transactions.set(wallet, held(servingTransactions(history(count))));
      fake.collectibles.set(wallet, held(servingCollectibles(collection(count))));
    },
    ask({ query, variables, headers = ONE }: Question): Asked {
      const client = new AbortController();
      const answer = fetch(`${gateway.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ query, variables }),
        signal: client.signal,
      }).then(
        (response) => response.text(),
        () => 'left',
      );
      return { answer, leave: () => client.abort() };
    },
    /** Resolves when this many requests are in flight, and all of them have started. */
    inFlight: (count: number): Promise<void> => requestsToBe(gateway.url, count),
    /** Has the service post a delivery that names the wallet. */
    async invalidate(address: string): Promise<void> {
      const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }', {}, ONE);
      const body = { transactions: [{ address, from: address }] };
      expect(await deliver(deliveryUrl, { body })).toBe(200);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

export type HeldGateway = Awaited<ReturnType<typeof startHeldGateway>>;

export const answersOf = (asked: readonly Asked[]): Promise<string[]> =>
  Promise.all(asked.map(({ answer }) => answer));

const COMPARED = /^gateway_(page_cache_requests_total|operations_total|upstream_compute_units_total)/;

const countsOf = async ({ gateway }: HeldGateway) => {
  const { series } = await scrape(gateway.url);
  const counts = new Map<string, number>();
  for (const [name, value] of series) {
    // Upstream answers when it does: which of the two a later page is depends on that.
    const key = name.replace('"coalesced"', '"fresh"');
    if (COMPARED.test(name)) counts.set(key, value + (counts.get(key) ?? 0));
  }
  return counts;
};

const COST = /,"extensions":\{"upstream":\{[^{}]*\}\}\}$/;

/** Runs a scenario. Returns the data of its answers, and what the gateway has counted meanwhile. */
const runOn = async (held: HeldGateway, scenario: (held: HeldGateway) => Promise<readonly string[]>) => {
  held.hold();
  const before = await countsOf(held);
  const answers = await scenario(held);
  await held.inFlight(0);
  const after = await countsOf(held);
  const counted = [...after]
    .map(([name, value]) => [name, value - (before.get(name) ?? 0)] as const)
    .filter(([, value]) => value !== 0)
    .toSorted();
  // Which of two operations requests a page that both need, upstream's order decides: `counted` has the sums.
  const data = answers.map((answer) => answer.replace(COST, ''));
  return { data, counted };
};

/** Starts two gateways of which one shares answers. */
export const startComparedGateways = async () => {
  await using made = new AsyncDisposableStack();
  const fast = made.use(await startHeldGateway('fast'));
  const plain = made.use(await startHeldGateway('plain'));
  const running = made.move();
  return {
    fast,
    plain,
    /** Runs a scenario on both, and expects the same answers and counts. */
    async run(scenario: (held: HeldGateway) => Promise<readonly string[]>) {
      const expected = await runOn(plain, scenario);
      expect(await runOn(fast, scenario)).toEqual(expected);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};
