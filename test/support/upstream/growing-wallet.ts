import { startGateway } from '../gateway/start.ts';
import { freshAddress, history, numbered } from './builders.ts';
import { type PagingScheme, servingTransactions } from './paging.ts';
import { startFakeWallets } from './wallets.ts';

/** Ways of the service to page that a client must not notice. */
export const pagingSchemes: PagingScheme[] = [
  { by: 'item' },
  { by: 'position' },
  { by: 'position', sizes: [30, 0, 7] },
];

/** More pages than there are: a client that passes it goes in circles. */
const MOST_PAGES = 30;

type Served = { data: { wallet?: Paged; node?: Paged } };
type Paged = { transactions: { edges: { node: { hash: string } }[] } };

/**
 * A wallet of 230 transactions behind a gateway that keeps nothing: it grows by two with each page that is asked for.
 */
export const startGrowingWallet = async (scheme: PagingScheme) => {
  await using made = new AsyncDisposableStack();
  const fake = made.use(await startFakeWallets());
  const gateway = made.use(
    await startGateway({ UPSTREAM_URL: fake.url, CACHE_HEAD_MS: '0', CACHE_TAIL_MS: '0' }),
  );
  const address = freshAddress();
  const items = history(230);
  const hashes = items.map(({ hash }) => hash);
  fake.transactions.set(address, servingTransactions(items, scheme));
  const served: string[] = [];
  let pages = 0;
  const running = made.move();

  return {
    url: `${gateway.url}/graphql`,
    address,
    /** Those that were there at the start, newest first. */
    hashes,
    /** What the gateway gave, page by page: clients that merge by id would hide what it gave twice. */
    served,
    /** For a client to page with. */
    async fetch(input: string | URL | Request, init?: RequestInit) {
      pages += 1;
      if (pages > MOST_PAGES) throw new Error('the walk did not end');
      const response = await fetch(input, init);
      const { data }: Served = JSON.parse(await response.clone().text());
      const { transactions } = data.wallet ?? data.node ?? { transactions: { edges: [] } };
      served.push(...transactions.edges.map(({ node }) => node.hash));
      items.unshift(numbered(items.length + 1), numbered(items.length + 2));
      return response;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};
