import { setTimeout as pause } from 'node:timers/promises';
import { bearer } from '../../test/support/gateway/tokens.ts';
import { ask } from './ask.ts';
import { repeat } from './repeat.ts';
import type { Waits } from './waits.ts';
import { walletOf } from './wallets.ts';

const PAGERS = 4;
const WALLETS = 12;
const SIZES = [20, 50, 100] as const;
const BETWEEN_MS = 40;
const AGAIN_MS = 250;
/** Refusals of one page in a row, after which a walk ends. */
const MOST_REFUSALS = 20;

const LISTS = {
  transactions: 'transactions(first: $first, after: $after) { nodes { key: hash from to value blockTime }',
  collectibles: 'collectibles(first: $first, after: $after) { nodes { key: tokenId name balance }',
};

type Page = {
  nodes: ({ key: string } | null)[];
  pageInfo: { hasNextPage: boolean; endCursor: string };
};

const anyOf = <Item>(items: readonly [Item, ...Item[]]): Item =>
  items[Math.floor(Math.random() * items.length)] ?? items[0];

type Options = { readonly token: string; readonly waits: Waits; readonly signal: AbortSignal };

/** Clients that walk wallets by their cursors. A walk is whole when it shows each number from the newest down to 1. */
export const startPagers = (url: string, { token, waits, signal }: Options) => {
  const pageOf = async (query: string, variables: object): Promise<Page | null> => {
    for (let tries = 0; tries < MOST_REFUSALS && !signal.aborted; tries += 1) {
      const asked = ask(`${url}/graphql`, { headers: bearer(token), body: { query, variables } });
      const { text, outcome } = await waits.measure('pages', asked);
      const page: Page | undefined = JSON.parse(text).data?.wallet?.page;
      if (page) return page;
      waits.refuse('pages', outcome);
      await pause(AGAIN_MS);
    }
    return null;
  };

  const walk = async (): Promise<string> => {
    const list = anyOf(['transactions', 'collectibles'] as const);
    const address = walletOf('honest', Math.floor(Math.random() * WALLETS));
    const first = anyOf(SIZES);
    const query = `query ($address: Address!, $first: Int, $after: String) {
      wallet(address: $address) { page: ${LISTS[list]} pageInfo { hasNextPage endCursor } } }
    }`;
    const numbers: number[] = [];
    for (let after: string | null = null; ; await pause(BETWEEN_MS)) {
      const page = await pageOf(query, { address, first, after });
      if (page === null) return `${list} of ${address}: abandoned`;
      numbers.push(...page.nodes.map((node) => Number(node?.key)));
      if (!page.pageInfo.hasNextPage) break;
      after = page.pageInfo.endCursor;
    }
    const amiss = numbers.findIndex((number, index) => number !== numbers.length - index);
    return amiss < 0 ? 'whole' : `${list} of ${address}: ${numbers[amiss]} behind ${numbers[amiss - 1]}`;
  };

  /** A request that fails is refused, and its walk begins anew. */
  const turn = () =>
    walk().catch((error: unknown) => {
      waits.refuse('pages', String(error));
      return 'refused';
    });
  return repeat(turn, { atOnce: PAGERS, pauseMs: BETWEEN_MS, signal });
};
