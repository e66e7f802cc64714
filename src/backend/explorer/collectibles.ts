import type { z } from 'zod';
import type { Collection, FailedChain, Holding, NftMetadata, Part, Place, Wanted } from '../source.ts';
import type { Hex } from '../types.ts';
import { OPERATIONS } from './client/operations.ts';
import type { Cursor } from './client/order.ts';
import type { Explorer } from './explorer.ts';

type NftRow = z.output<typeof OPERATIONS.addressNft.row>;

/** The NFTs of a wallet, by standard, contract and id. A place is what explorers continue from. */
export const holdingsOf = async (
  explorer: Explorer,
  wallet: Hex,
  { after, limit }: Wanted,
): Promise<Part<Holding>> => {
  const lookup = explorer.lookup(wallet);
  const page = await explorer.page(
    OPERATIONS.addressNft,
    { address: wallet },
    cursorAt(after),
    lookup,
    limit,
  );
  const items: Holding[] = [];
  const failed: FailedChain[] = [];
  for (const row of page.items) {
    explorer.known.token(row.token);
    const held = heldIn(row);
    if (held === null) continue;
    if (held.balance === null)
      failed.push({ chainId: explorer.chain.id, reason: 'the explorer has not read all amounts yet' });
    else items.push({ ...holdingOf(explorer, row), ...held, balance: held.balance });
  }
  return {
    items,
    next: page.next && placeAt(page.next),
    isEnough: true,
    failed: failed.slice(0, 1),
  };
};

/** What is known of the collection of an NFT that the explorer lists. */
export const collectionOf = ({ known }: Explorer, address: Hex): Collection => {
  const { name = null, symbol = null, isFlagged = null } = known.find(address) ?? {};
  const reputation = { trades: null, buyers: null, sellers: null, flagged: isFlagged };
  return { name, symbol, launchedAt: null, reputation, verdict: isFlagged, uri: null };
};

const cursorAt = (place: Place | null): Cursor | null => {
  if (place === null) return null;
  const [token_type = '', token_contract_address_hash = '', token_id = ''] = place;
  return { token_type, token_contract_address_hash, token_id };
};

const placeAt = ({ token_type, token_contract_address_hash, token_id }: Cursor): Place => [
  String(token_type ?? ''),
  String(token_contract_address_hash ?? ''),
  String(token_id ?? ''),
];

/** The kind of NFT and how many of it; null for tokens that the service has no standard for. */
const heldIn = ({
  token,
  token_type,
  value,
}: NftRow): { readonly standard: Holding['standard']; readonly balance: bigint | null } | null => {
  const type = token.type ?? token_type;
  // Of the two kinds of token of ERC-404, only the NFTs have ids.
  if (type === 'ERC-721' || type === 'ERC-404') return { standard: 'erc721', balance: 1n };
  return type === 'ERC-1155' ? { standard: 'erc1155', balance: value } : null;
};

const holdingOf = ({ chain }: Explorer, row: NftRow): Omit<Holding, 'standard' | 'balance'> => ({
  chain,
  contract: row.token.address_hash,
  symbol: row.token.symbol,
  tokenId: row.id,
  acquiredAt: null,
  soldFor: null,
  metadata: metadataOf(row),
  place: [row.token_type ?? row.token.type ?? '', row.token.address_hash, row.id.toString()],
});

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** What the document says, as far as it follows the convention: strangers write it. */
const metadataOf = (row: NftRow): NftMetadata | null => {
  const { metadata, image_url, media_url, thumbnails } = row;
  const imageUrl = image_url ?? textOf(thumbnails?.original) ?? media_url;
  if (typeof metadata !== 'object' || metadata === null)
    return imageUrl === null ? null : { name: null, description: null, imageUrl, uri: null, attributes: [] };
  return {
    name: textOf(memberOf(metadata, 'name')),
    description: textOf(memberOf(metadata, 'description')),
    imageUrl,
    uri: null,
    attributes: attributesIn(memberOf(metadata, 'attributes')),
  };
};

const attributesIn = (attributes: unknown): NftMetadata['attributes'] =>
  !Array.isArray(attributes)
    ? []
    : attributes.flatMap((attribute: unknown) => {
        const [key, value] = [memberOf(attribute, 'trait_type'), memberOf(attribute, 'value')];
        if (typeof key !== 'string' || value === undefined) return [];
        return [{ key, value: typeof value === 'string' ? value : JSON.stringify(value) }];
      });
