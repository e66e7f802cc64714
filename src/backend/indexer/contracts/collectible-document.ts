import type { NftMetadata } from '../../source.ts';
import { shownText } from './answers.ts';

/**
 * The metadata documents of NFTs: where they are, and what they say. Contracts and the authors of documents are strangers, so
 * that all of it is bounded, and only public URLs of https lead anywhere, beside those of ipfs: see ipfs-gateway.ts.
 */

const MAX_NAME = 256;
const MAX_DESCRIPTION = 2_000;
const MAX_ATTRIBUTE = 256;
const MAX_ATTRIBUTES = 100;

/** An https URL without credentials; null for any other. No picture or document needs them. */
export const publicUrl = (text: string): URL | null => {
  const url = URL.parse(text);
  return url?.protocol === 'https:' && url.username + url.password === '' ? url : null;
};

/** A URI of an ERC-1155's token, or of its picture: https://eips.ethereum.org/EIPS/eip-1155#metadata. */
export const withId = (uri: string, tokenId: bigint): string =>
  uri.replaceAll('{id}', tokenId.toString(16).padStart(64, '0'));

/** What a `data:` URI contains, as the standard of URLs decodes it; null for another URI. Rejects for one that it rejects. */
export const dataOf = async (uri: string): Promise<Content | null> => {
  if (!/^data:/i.test(uri)) return null;
  const response = await fetch(uri);
  const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
  return { type: type.toLowerCase(), body: Buffer.from(await response.arrayBuffer()) };
};

export type Content = {
  /** The media type in lower case, without parameters. */
  readonly type: string;
  readonly body: Buffer;
};

/** What a document says, and the URL of its picture as it has it. */
export type Document = Pick<NftMetadata, 'name' | 'description' | 'attributes'> & {
  readonly image: string | null;
};

/** What is known where a URI names a picture instead of a document. */
export const documentOf = (image: string): Document => ({
  name: null,
  description: null,
  image,
  attributes: [],
});

/** @throws when the text is not a JSON object. */
export const parseDocument = (text: string): Document => {
  // A byte order mark counts as white space here, and in JSON it does not.
  const document: unknown = JSON.parse(text.trimStart(), withDigits);
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw new Error('expected a JSON object');
  const { name, description, image, image_url, image_data, attributes } = document as Readonly<
    Record<string, unknown>
  >;
  const picture = [image, image_url, image_data].find((url) => typeof url === 'string' && url !== '');
  return {
    name: lineOf(name, MAX_NAME),
    description: lineOf(description, MAX_DESCRIPTION),
    image: typeof picture === 'string' ? pictureUrl(picture) : null,
    attributes: (Array.isArray(attributes) ? attributes : []).slice(0, MAX_ATTRIBUTES).flatMap(attributeOf),
  };
};

/** Numbers stay as they are written: one of many digits may be an id, and `1e400` is not infinite. */
const withDigits = (_: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === 'number' ? context?.source : value;

/** Contracts that draw a picture may state its SVG instead of a URL. */
export const pictureUrl = (picture: string): string =>
  /^\s*<svg[\s>]/i.test(picture) ? `data:image/svg+xml,${encodeURIComponent(picture.trim())}` : picture;

/** A scalar as a line of text; null for anything else. */
const lineOf = (value: unknown, max: number): string | null =>
  typeof value === 'string' || typeof value === 'boolean' ? shownText(String(value), max) : null;

const attributeOf = (attribute: unknown): NftMetadata['attributes'] => {
  if (typeof attribute !== 'object' || attribute === null) return [];
  const { trait_type, value } = attribute as Readonly<Record<string, unknown>>;
  const [key, text] = [lineOf(trait_type, MAX_ATTRIBUTE), lineOf(value, MAX_ATTRIBUTE)];
  return key === null || text === null ? [] : [{ key, value: text }];
};
