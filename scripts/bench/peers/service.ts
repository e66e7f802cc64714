import process from 'node:process';
import { Pool } from 'undici';
import {
  type Collectible,
  type RawCollectible,
  type RawTransaction,
  type Transaction,
  toCollectible,
  toTransaction,
} from './items.ts';

/**
 * Upstream for the peers: a request for each list, JSON.parse, and names as clients see them. Values pass as they are: a
 * peer neither checks them nor converts hex quantities, which is less work than the gateway's. No page is kept.
 */

/** A page of upstream's as a connection. Its cursors name places of that page. */
export class Connection<Item> {
  readonly nodes: Item[];
  readonly pageInfo: { hasNextPage: boolean; endCursor: string | null };
  private readonly offset: string;

  constructor(nodes: Item[], offset: string, next: string | undefined) {
    this.nodes = nodes;
    this.offset = offset;
    this.pageInfo = { hasNextPage: next !== undefined, endCursor: next ?? null };
  }

  /** Made only where they are selected. */
  get edges(): { cursor: string; node: Item }[] {
    return this.nodes.map((node, index) => ({
      cursor: Buffer.from(`${this.offset}:${index}`).toString('base64'),
      node,
    }));
  }
}

const pool = new Pool(process.env.UPSTREAM_URL ?? '', { connections: 128 });
const headers = { accept: 'application/json', 'x-service-api-key': process.env.UPSTREAM_API_KEY ?? '' };

const read = async <Body>(path: string): Promise<Body> => {
  const { statusCode, body } = await pool.request({ path, method: 'GET', headers });
  if (statusCode !== 200) throw new Error(`The service answered ${statusCode}.`);
  return (await body.json()) as Body;
};

export type PageArguments = { first: number; after?: string | null | undefined };

const offsetOf = ({ after }: PageArguments): string => (after == null ? '' : `&offset=${after}`);

export const transactionsOf = async (
  address: string,
  args: PageArguments,
  decode: boolean,
): Promise<Connection<Transaction>> => {
  const path = `/v1/evm/transactions/${address}?limit=${args.first}${offsetOf(args)}${decode ? '&decode=true' : ''}`;
  const page = await read<{ transactions: RawTransaction[]; next_offset?: string }>(path);
  return new Connection(page.transactions.map(toTransaction), args.after ?? '', page.next_offset);
};

export const collectiblesOf = async (
  address: string,
  args: PageArguments,
): Promise<Connection<Collectible>> => {
  const page = await read<{ entries: RawCollectible[]; next_offset?: string }>(
    `/v1/evm/collectibles/${address}?limit=${args.first}${offsetOf(args)}`,
  );
  return new Connection(page.entries.map(toCollectible), args.after ?? '', page.next_offset);
};
