import { isObject } from '../../lib/json/exact-json.ts';
import { itemLookup } from '../../upstream/lookup.ts';
import { detailsOf, hoursIn } from '../../upstream/page.ts';
import { assertAsked } from '../../upstream/parse/asked-chains.ts';
import { malformed, optional, readChainId, readList } from '../../upstream/parse/fields.ts';
import {
  nullable,
  type RecordTable,
  type RecordValue,
  readRecord,
  required,
} from '../../upstream/parse/record.ts';

const MARKET = {
  name: 'market',
  fields: {
    symbol: nullable('symbol', 'lenientString'),
    name: nullable('name', 'lenientString'),
    decimals: nullable('decimals', 'tokenDecimals'),
    logo: nullable('logo', 'webUrl'),
    priceUsd: nullable('price_usd', 'decimal'),
    poolSizeUsd: nullable('pool_size', 'decimal'),
    totalSupply: nullable('total_supply', 'integer'),
    fullyDilutedValueUsd: nullable('fully_diluted_value', 'decimal'),
    marketCapUsd: nullable('market_cap', 'decimal'),
    priceHistory: {
      from: 'historical_prices',
      records: {
        name: 'historicalPrice',
        fields: {
          hoursAgo: required('offset_hours', 'int'),
          priceUsd: nullable('price_usd', 'decimal'),
        },
      },
      mode: 'lenient',
    },
  },
} as const satisfies RecordTable;

/** A token, as the key of what the service says about it. */
type MarketOf = {
  /** The chain's id and the token's address, or `native`, with a colon between. */
  readonly address: string;
  readonly chains: string;
  /** The token's address, or `native`. */
  readonly token: string;
};

const readMarket = readRecord(MARKET);

/** What the service says about one token now. */
export const marketLookup = itemLookup({
  name: 'market',
  path: ({ token }: MarketOf) => ['v1', 'evm', 'token-info', token],
  query: (_market, details) => ({ historical_prices: hoursIn(detailsOf(details)).join() || undefined }),
  price: 2,
  // Prices move, but an answer costs two compute units, and all clients share it.
  timesHead: 15,
  supportedAs: 'TOKEN_INFO',
  read(body, chains) {
    if (!isObject(body)) throw malformed('body', 'an object', body);
    const [market] = readList(body.tokens, 'tokens');
    if (market === undefined) return null;
    if (!isObject(market)) throw malformed('tokens[0]', 'an object', market);
    const chainId = optional(readChainId)(market.chain_id, 'chain_id');
    if (chains !== null) assertAsked(chains, { chainId, chain: null });
    return readMarket(market);
  },
});

export type TokenMarketShape = RecordValue<typeof MARKET>;
