import { hashOf } from '../evm/random.ts';
import { imagePath } from '../http/pictures.ts';
import { address, chainChoice, flag, limit, Refused } from '../http/query.ts';
import type { Collection, Holding } from '../types.ts';
import { isoTime, type Lookup, paged, scopeOf } from './lookup.ts';
import { type Classification, createClassifier } from './spam.ts';

const DEFAULT_LIMIT = 250;
const MAX_LIMIT = 2_500;

/** A wallet's NFTs, the most recently acquired first. */
export const collectibles: Lookup = {
  path: '/v1/evm/collectibles/{address}',
  errors: 'error',
  computeUnits: (chains) => chains,
  answer(asked) {
    const { data, now, path, query, baseUrl } = asked;
    const requestedAt = now();
    const wallet = address(path.address, 'Invalid address: expected 0x and 40 hexadecimal digits');
    const { chains, unsupported } = chainChoice(query, data.chains, 'collectibles');
    const filterSpam = flag(query, 'filter_spam', true);
    const explain = flag(query, 'show_spam_scores', false);
    const count = limit(query, DEFAULT_LIMIT, MAX_LIMIT);
    if (unsupported.length > 0) throw new Refused(404, 'Chain not supported');

    const chainIds = new Set(scopeOf(chains));
    const classify = createClassifier(data, now());
    const found = data.holdings(wallet).flatMap((holding) => {
      const classified = chainIds.has(holding.token.chain.id) ? classify(holding) : null;
      return classified === null || (filterSpam && classified.classification.isSpam) ? [] : [classified];
    });
    const { page, next } = paged(asked, ['collectibles', wallet, filterSpam, ...chainIds], found, {
      limit: count,
      placeOf: ({ holding }) => [holding.slot],
      isAfter: ({ holding }, [slot = 0]) => holding.slot < Number(slot),
    });
    const body = {
      address: wallet,
      entries: page.map((each) => collectibleItem({ ...each, explain, baseUrl: baseUrl() })),
      request_time: isoTime(requestedAt),
      response_time: isoTime(now()),
      ...next,
    };
    return { body, chains: chains.length };
  },
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
