import type { Holding } from '../chain/ledger.ts';
import type { Collection } from '../evm/collections.ts';
import { hashOf } from '../evm/random.ts';
import { json, type Route, type SandboxResponse } from '../http/http.ts';
import type { Hex } from '../types.ts';
import { chainChoice, flag, isoTime, limit, lookupRoute, offset } from './lookup.ts';
import { imagePath } from './pictures.ts';
import { type Classification, classify } from './spam.ts';
import type { LookupOptions } from './transactions.ts';

const DEFAULT_LIMIT = 250;
const MAX_LIMIT = 2_500;

export type CollectiblesOptions = LookupOptions & {
  /** The base URL of the sandbox's images, without a trailing slash. */
  readonly baseUrl: () => string;
};

type ClassifiedHolding = {
  readonly holding: Holding;
  readonly collection: Collection;
  readonly classification: Classification;
};

/** The collectibles lookup. It costs one compute unit for each requested chain. */
export const createCollectiblesRoute = ({ simulator, cursors, now, baseUrl }: CollectiblesOptions): Route => {
  /** A wallet holds many tokens of few collections, so each collection is classified once. */
  const createClassifier = () => {
    const classifications = new Map<Collection, Classification>();
    return (holding: Holding): readonly ClassifiedHolding[] => {
      const collection = simulator.collection(holding.token.chain.id, holding.token.address);
      if (collection === null) return [];
      const classification = classifications.get(collection) ?? classify(collection, now());
      classifications.set(collection, classification);
      return [{ holding, collection, classification }];
    };
  };

  const answer = (wallet: Hex, query: URLSearchParams): SandboxResponse => {
    const requestedAt = now();
    const { chains, unsupported } = chainChoice(query);
    const filterSpam = flag(query, 'filter_spam', true);
    const explain = flag(query, 'show_spam_scores', false);
    const count = limit(query, DEFAULT_LIMIT, MAX_LIMIT);
    if (unsupported.length > 0) return json(404, { error: 'Chain not supported' });

    const chainIds = new Set(chains.map((chain) => chain.id));
    const scope = ['collectibles', wallet, filterSpam, ...[...chainIds].sort((a, b) => a - b)];
    const after = cursors.read(scope, offset(query))?.order ?? Number.POSITIVE_INFINITY;
    const found = simulator
      .holdings(wallet)
      .filter(({ slot, token }) => slot < after && chainIds.has(token.chain.id))
      .flatMap(createClassifier())
      .filter(({ classification }) => !filterSpam || !classification.isSpam);
    const page = found.slice(0, count);
    const last = page.at(-1)?.holding;
    const body = {
      address: wallet,
      entries: page.map((each) => collectibleItem({ ...each, explain, baseUrl: baseUrl() })),
      request_time: isoTime(requestedAt),
      response_time: isoTime(now()),
      ...(last !== undefined &&
        found.length > count && { next_offset: cursors.issue(scope, { time: 0, order: last.slot }) }),
    };
    return json(200, body, chainIds.size);
  };
  return lookupRoute({
    prefix: '/v1/evm/collectibles/',
    errorMember: 'error',
    answer: (wallet, { query }) => answer(wallet, query),
  });
};

type Item = {
  readonly holding: Holding;
  readonly collection: Collection;
  readonly classification: Classification;
  /** Whether the request asks for spam details. */
  readonly explain: boolean;
  readonly baseUrl: string;
};

const STANDARDS = { erc20: 'ERC20', erc721: 'ERC721', erc1155: 'ERC1155' };

/** A holding in the lookup's format. Optional fields are omitted when their value is unknown. */
const collectibleItem = ({ holding, collection, classification, explain, baseUrl }: Item) => {
  const { token, tokenId, balance, acquiredAt, soldFor } = holding;
  return {
    contract_address: token.address,
    token_standard: STANDARDS[token.standard],
    token_id: tokenId.toString(),
    chain: token.chain.name,
    chain_id: token.chain.id,
    symbol: token.symbol,
    ...(hasMetadata(holding) && described(collection, holding, baseUrl)),
    ...(soldFor !== null && { last_sale_price: inWholeUnits(soldFor) }),
    is_spam: classification.isSpam,
    ...(explain && { spam_score: classification.score, explanations: classification.explanations }),
    balance: balance.toString(),
    last_acquired: isoTime(acquiredAt),
  };
};

/**
 * Whether the service has fetched the token's metadata. A real service does so late or never: here, one token in
 * sixteen has none.
 */
const hasMetadata = ({ token, tokenId }: Holding): boolean =>
  hashOf(`fetched ${token.address}/${tokenId}`)[2] !== '0';

const described = (collection: Collection, { token, tokenId }: Holding, baseUrl: string) => {
  const { uri, description } = collection;
  const metadata =
    uri === null
      ? {}
      : { uri: uri.replace('{id}', tokenId.toString()), attributes: attributes(collection, tokenId) };
  return {
    name: `${token.name} #${tokenId}`,
    ...(description !== null && { description }),
    image_url: `${baseUrl}${imagePath(token.chain.id, token.address, tokenId)}`,
    metadata,
  };
};

/** The token's traits, which never change. */
const attributes = ({ traits }: Collection, tokenId: bigint) =>
  Object.entries(traits).map(([key, values]) => {
    const at = Number.parseInt(hashOf(`${key}/${tokenId}`).slice(2, 10), 16) % values.length;
    return { key, value: values[at] ?? '' };
  });

/** Formats an amount of a native asset in whole units. All native assets have 18 decimals. */
const inWholeUnits = (value: bigint): string => {
  const digits = value.toString().padStart(19, '0');
  return `${digits.slice(0, -18)}.${digits.slice(-18)}`.replace(/\.?0+$/, '');
};
