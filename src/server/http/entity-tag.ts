import type { ContentCoding } from './content-coding.ts';

/** What an If-None-Match names: its tags as they are written, or any tag at all. */
export type WantedTags = readonly string[] | '*';

const TAG = /[\t ,]*((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[\t ]*(?=,|$)/y;

/** Reads an If-None-Match. One that is malformed names no tag. */
export const parseIfNoneMatch = (value: string): WantedTags => {
  if (value.trim() === '*') return '*';
  const tags: string[] = [];
  const pattern = new RegExp(TAG);
  let end = 0;
  for (let match = pattern.exec(value); match?.[1] !== undefined; match = pattern.exec(value)) {
    tags.push(match[1]);
    end = pattern.lastIndex;
  }
  return /^[\t ,]*$/.test(value.slice(end)) ? tags : [];
};

/**
 * A strong entity tag: it differs wherever a byte of the representation differs. `digest` names the data and what it was
 * asked for, and `rest` the bytes beside the data.
 */
export const entityTag = (digest: string, rest: string): string =>
  `"${shortened(digest)}.${shortened(rest)}"`;

/** So much of a hash in base64 is 132 bits. */
const shortened = (hash: string): string => hash.slice(0, 22);

/** The tag of the same representation in a content coding, which is another one (RFC 9110, 8.8.3.3). */
export const tagInCoding = (tag: string, coding: ContentCoding): string => `${tag.slice(0, -1)}-${coding}"`;

/**
 * Returns the wanted tag of a representation with this data, as it is written; null without one. The comparison is the
 * weak one (RFC 9110, 13.1.2), and ignores what proxies append.
 */
export const findTagOf = (wanted: readonly string[], digest: string): string | null =>
  wanted.find((tag) => tag.replace(/^W\//, '').startsWith(`"${shortened(digest)}.`)) ?? null;
