import type { Holding } from '../chain/holdings.ts';
import { hashOf } from '../evm/address.ts';
import type { Collection } from '../evm/collections.ts';
import { imagePath } from './image.ts';
import { isoTime } from './lookup.ts';
import type { Classification } from './spam.ts';

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
export const collectibleItem = ({ holding, collection, classification, explain, baseUrl }: Item) => {
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
