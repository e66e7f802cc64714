import type { NftMetadata } from '../source.ts';
import type { SandboxCollection } from './contracts.ts';
import { hashOf } from './random.ts';

/** The metadata of an NFT of a collection; null when the service has not fetched it. */
export const metadataOf = (
  collection: SandboxCollection,
  tokenId: bigint,
  imageUrl: string,
): NftMetadata | null => {
  const { token, uri, description } = collection;
  if (!isFetched(token.address, tokenId)) return null;
  return {
    name: `${token.name} #${tokenId}`,
    description,
    imageUrl,
    uri: uri?.replace('{id}', tokenId.toString()) ?? null,
    attributes: attributes(collection, tokenId),
  };
};

/** A real service fetches metadata late or never: here, one token in sixteen has none. */
const isFetched = (address: string, tokenId: bigint): boolean =>
  hashOf(`fetched ${address}/${tokenId}`)[2] !== '0';

/** The token's traits, which never change. */
const attributes = ({ traits }: SandboxCollection, tokenId: bigint): NftMetadata['attributes'] =>
  Object.entries(traits).map(([key, values]) => {
    const at = Number.parseInt(hashOf(`${key}/${tokenId}`).slice(2, 10), 16) % values.length;
    return { key, value: values[at] ?? '' };
  });
