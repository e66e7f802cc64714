import { setTimeout as pause } from 'node:timers/promises';
import { ask, outcomeOf } from './ask.ts';
import type { Waits } from './waits.ts';
import { walletOf } from './wallets.ts';

const PAGERS = 4;
const WALLETS = 12;
const SIZES = [20, 50, 100];
const BETWEEN_MS = 40;
/** Refusals of one page in a row, after which a walk ends. */
const TIMEOUT = 20;

const LOOKUPS = {
  transactions: 'transactions(first: $first, after: $after) { nodes { key: hash from to value blockTime }',
  collectibles: 'collectibles(first: $first, after: $after) { nodes { key: tokenId name balance }',
};

type Page = {
  nodes: ({ key: string } | null)[];
  pageInfo: { hasNextPage: boolean; endCursor: string };
};

type Options = {
  readonly url: string;
  readonly token: string;
  readonly waits: Waits;
  readonly signal: AbortSignal;
};

const anyOf = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)] as Item;

/** Clients that walk wallets by their cursors, which must show each number from the newest down to 1. */
export const startPagers = (options: Options) => {
  const { url, token, waits, signal } = options;
  const walks = { whole: 0, wrong: [] as string[] };

  const pageOf = async (query: string, variables: object): Promise<Page | null> => {
    for (let tries = 0; tries < TIMEOUT && !signal.aborted; tries += 1) {
      const answer = await waits.measure(
        'pages',
        ask({
          url: `${url}/graphql`,
          headers: { authorization: `Bearer ${token}` },
          body: { query, variables },
        }),
      );
      const page: Page | undefined = JSON.parse(answer.text).data?.wallet?.page;
      if (page) return page;
      waits.refuse('pages', outcomeOf(answer));
      await pause(250);
    }
    return null;
  };

  const walk = async (): Promise<void> => {
    const lookup = anyOf(['transactions', 'collectibles'] as const);
    const address = walletOf('honest', Math.floor(Math.random() * WALLETS));
    const first = anyOf(SIZES);
    const query = `query ($address: Address!, $first: Int, $after: String) {
      wallet(address: $address) { page: ${LOOKUPS[lookup]} pageInfo { hasNextPage endCursor } } }
    }`;
    const numbers: number[] = [];
    for (let after: string | null = null; ; ) {
      const page = await pageOf(query, { address, first, after });
      if (signal.aborted) return;
      if (page === null) return void walks.wrong.push(`${lookup} of ${address}: abandoned`);
      numbers.push(...page.nodes.map((node) => Number(node?.key)));
      if (!page.pageInfo.hasNextPage) break;
      after = page.pageInfo.endCursor;
      await pause(BETWEEN_MS);
    }
    const amiss = numbers.findIndex((number, index) => number !== numbers.length - index);
    if (amiss < 0) walks.whole += 1;
    else walks.wrong.push(`${lookup} of ${address}: ${numbers[amiss]} behind ${numbers[amiss - 1]}`);
  };

  const pager = async () => {
    while (!signal.aborted) {
      await walk().catch((error: unknown) => waits.refuse('pages', String(error)));
      await pause(BETWEEN_MS);
    }
  };
  const pagers = Array.from({ length: PAGERS }, pager);
  return { walks, ended: Promise.all(pagers) };
};
