import { startGateway } from '../gateway/start.ts';
import { freshAddress, history } from '../upstream/builders.ts';
import { servingTransactions } from '../upstream/paging.ts';
import { startFakeWallets } from '../upstream/wallets.ts';

/** A gateway over a quick wallet and a slow one, which upstream holds until `release`. */
export const startPortfolio = async (env: Record<string, string | undefined> = {}) => {
  await using made = new AsyncDisposableStack();
  const fake = made.use(await startFakeWallets());
  const gateway = made.use(
    await startGateway({ UPSTREAM_URL: fake.url, UPSTREAM_TIMEOUT_MS: '60000', ...env }),
  );
  const [quick, slow] = [freshAddress(), freshAddress()];
  const gate = Promise.withResolvers<void>();
  fake.transactions.set(quick, servingTransactions(history(3)));
  fake.transactions.set(slow, async (request) => {
    await gate.promise;
    return servingTransactions(history(300))(request);
  });
  const running = made.move();
  return {
    fake,
    gateway,
    /** The variables of both wallets. */
    variables: { quick, slow },
    release: () => gate.resolve(),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

export const PORTFOLIO = `query ($quick: Address!, $slow: Address!) {
  quick: wallet(address: $quick) { ...Recent }
  slow: wallet(address: $slow) { address ...Recent @defer(label: "slow") }
}
fragment Recent on Wallet { transactions(first: 2) { nodes { hash } } }`;

/** The document without `@defer` and `@stream`. */
export const plainOf = (query: string): string => query.replaceAll(/@(?:defer|stream)(?:\([^)]*\))?/g, '');
