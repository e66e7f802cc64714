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

/** The URI of an ERC-1155's token: https://eips.ethereum.org/EIPS/eip-1155#metadata. */
export const withId = (uri: string, tokenId: bigint): string =>
  uri.replaceAll('{id}', tokenId.toString(16).padStart(64, '0'));

/** The content of a `data:` URI; null for anything else. */
export const dataOf = (uri: string): { readonly type: string; readonly text: string } | null => {
  const [, type = '', isBase64, data = ''] =
    /^data:([^;,]*)(?:;(?!base64,)[^;,]*)*(;base64)?,(.*)$/is.exec(uri) ?? [];
  if (!/^data:/i.test(uri)) return null;
  const text = isBase64 === undefined ? decoded(data) : Buffer.from(data, 'base64').toString();
  return { type: type.toLowerCase(), text };
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    // Many contracts do not encode what they join.
    return text;
  }
};

/** What a document says, and the URL of its picture as it has it. */
export type Document = Pick<NftMetadata, 'name' | 'description' | 'attributes'> & {
  readonly image: string | null;
};

/** @throws when the text is not a JSON object. */
export const parseDocument = (text: string): Document => {
  const document: unknown = JSON.parse(text);
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw new Error('expected a JSON object');
  const { name, description, image, image_url, attributes } = document as Readonly<Record<string, unknown>>;
  const picture = [image, image_url].find((url) => typeof url === 'string');
  return {
    name: lineOf(name, MAX_NAME),
    description: lineOf(description, MAX_DESCRIPTION),
    image: typeof picture === 'string' ? picture : null,
    attributes: (Array.isArray(attributes) ? attributes : []).slice(0, MAX_ATTRIBUTES).flatMap(attributeOf),
  };
};

/** A scalar as a line of text; null for anything else. */
const lineOf = (value: unknown, max: number): string | null =>
  ['string', 'number', 'boolean'].includes(typeof value) ? shownText(String(value), max) : null;

const attributeOf = (attribute: unknown): NftMetadata['attributes'] => {
  if (typeof attribute !== 'object' || attribute === null) return [];
  const { trait_type, value } = attribute as Readonly<Record<string, unknown>>;
  const [key, text] = [lineOf(trait_type, MAX_ATTRIBUTE), lineOf(value, MAX_ATTRIBUTE)];
  return key === null || text === null ? [] : [{ key, value: text }];
};
