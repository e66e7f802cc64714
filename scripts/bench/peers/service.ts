import process from 'node:process';
import { Pool } from 'undici';

/**
 * Upstream for the peers: a request for each list, JSON.parse, and names as clients see them. Values pass as they are: a
 * peer neither checks them nor converts hex quantities, which is less work than the gateway's. No page is kept.
 */

/** An item as upstream writes it. */
type Item = Readonly<Record<string, unknown>>;

const transactionOf = (item: Item) => ({
  address: item.address,
  blockHash: item.block_hash,
  blockNumber: item.block_number,
  blockTime: item.block_time,
  chain: item.chain,
  from: item.from,
  to: item.to,
  data: item.data,
  gasPrice: item.gas_price,
  hash: item.hash,
  index: item.index,
  nonce: item.nonce,
  transactionType: item.transaction_type,
  value: item.value,
  decoded: item.decoded,
  logs: item.logs,
});

const collectibleOf = (item: Item) => ({
  contractAddress: item.contract_address,
  tokenStandard: item.token_standard,
  tokenId: item.token_id,
  chain: item.chain,
  chainId: item.chain_id,
  name: item.name,
  description: item.description,
  symbol: item.symbol,
  imageUrl: item.image_url,
  lastSalePrice: item.last_sale_price,
  metadata: item.metadata,
  isSpam: item.is_spam,
  balance: item.balance,
  lastAcquired: item.last_acquired,
});

/** The metadata of a token, where an item has any. */
const tokenOf = (address: unknown, metadata: unknown) => {
  const { symbol, name, decimals, logo } = (metadata ?? {}) as Item;
  return { address: address === 'native' ? null : address, symbol, name, decimals, logo };
};

const balanceOf = (item: Item) => ({
  chain: item.chain,
  chainId: item.chain_id,
  amount: item.amount,
  valueUsd: item.value_usd,
  priceUsd: item.price_usd,
  token: {
    address: item.address === 'native' ? null : item.address,
    symbol: item.symbol,
    name: item.name,
    decimals: item.decimals,
    logo: (item.token_metadata as Item | undefined)?.logo,
  },
});

const activityItemOf = (item: Item) => ({
  type: String(item.type).toUpperCase(),
  chainId: item.chain_id,
  blockNumber: item.block_number,
  blockTime: item.block_time,
  transactionHash: item.tx_hash,
  from: item.from,
  to: item.to,
  value: item.value,
  valueUsd: item.value_usd,
  token: item.token_address === undefined ? null : tokenOf(item.token_address, item.token_metadata),
  swap:
    item.type === 'swap'
      ? {
          from: {
            value: item.from_token_value,
            token: tokenOf(item.from_token_address, item.from_token_metadata),
          },
          to: { value: item.to_token_value, token: tokenOf(item.to_token_address, item.to_token_metadata) },
        }
      : null,
});

/** A page of upstream's as a connection. Its cursors name places of that page. */
class Connection<Node> {
  readonly nodes: readonly Node[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly #offset: string;

  constructor(nodes: readonly Node[], offset: string, next: string | undefined) {
    this.nodes = nodes;
    this.#offset = offset;
    this.pageInfo = { hasNextPage: next !== undefined, endCursor: next ?? null };
  }

  /** Made only where they are selected. */
  get edges() {
    return this.nodes.map((node, index) => ({
      cursor: Buffer.from(`${this.#offset}:${index}`).toString('base64'),
      node,
    }));
  }
}

const pool = new Pool(process.env.UPSTREAM_URL ?? '', { connections: 128 });
const headers = { accept: 'application/json', 'x-service-api-key': process.env.UPSTREAM_API_KEY ?? '' };

export type PageArguments = { readonly first: number; readonly after?: string | null };

const pageOf = async (path: string, { first, after }: PageArguments, parameters = '') => {
  const offset = after == null ? '' : `&offset=${after}`;
  const answer = await pool.request({
    path: `${path}?limit=${first}${offset}${parameters}`,
    method: 'GET',
    headers,
  });
  if (answer.statusCode !== 200) throw new Error(`The service answered ${answer.statusCode}.`);
  return (await answer.body.json()) as {
    readonly transactions?: readonly Item[];
    readonly entries?: readonly Item[];
    readonly balances?: readonly Item[];
    readonly activity?: readonly Item[];
    readonly next_offset?: string;
  };
};

export const transactionsOf = async (address: string, args: PageArguments, decode: boolean) => {
  const page = await pageOf(`/v1/evm/transactions/${address}`, args, decode ? '&decode=true' : '');
  return new Connection((page.transactions ?? []).map(transactionOf), args.after ?? '', page.next_offset);
};

export const collectiblesOf = async (address: string, args: PageArguments) => {
  const page = await pageOf(`/v1/evm/collectibles/${address}`, args);
  return new Connection((page.entries ?? []).map(collectibleOf), args.after ?? '', page.next_offset);
};

export const balancesOf = async (address: string, args: PageArguments, hasLogos: boolean) => {
  const page = await pageOf(`/v1/evm/balances/${address}`, args, hasLogos ? '&metadata=logo' : '');
  return new Connection((page.balances ?? []).map(balanceOf), args.after ?? '', page.next_offset);
};

export const activityOf = async (address: string, args: PageArguments) => {
  const page = await pageOf(`/v1/evm/activity/${address}`, args);
  return new Connection((page.activity ?? []).map(activityItemOf), args.after ?? '', page.next_offset);
};
