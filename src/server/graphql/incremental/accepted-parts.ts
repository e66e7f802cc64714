import { rememberLast } from '../../../lib/remember-last.ts';

/**
 * The two formats of parts. `20220824` is a draft of the specification that Apollo Client, urql and Relay read: a part has
 * the path of its data. In `v0.2`, that of graphql 17, a part has the id of a pending one, and no field comes twice.
 */
export type PartFormat = '20220824' | 'v0.2';

export type AcceptedParts = {
  readonly mediaType: 'multipart/mixed' | 'text/event-stream';
  readonly format: PartFormat;
};

/** Clients that accept both can read a response of several bodies. */
const MEDIA_TYPES = ['multipart/mixed', 'text/event-stream'] as const;

/** What a parameter of a media range says that a client reads. */
const FORMATS: Readonly<Record<string, PartFormat>> = {
  'deferspec=20220824': '20220824',
  'incrementalspec=v0.2': 'v0.2',
};

/**
 * Returns how a client with this `Accept` reads an answer in parts; null for a client that does not. A media range that
 * names no format has `20220824`, and one that names an unknown format is passed over.
 */
export const acceptedParts = rememberLast((accept): AcceptedParts | null => {
  const ranges = accept.split(',').map((range) => range.split(';'));
  for (const mediaType of MEDIA_TYPES)
    for (const [type, ...parameters] of ranges) {
      const format = type === mediaType ? formatOf(parameters) : null;
      if (format) return { mediaType, format };
    }
  return null;
});

const formatOf = (parameters: readonly string[]): PartFormat | null => {
  if (parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) return null;
  const named = parameters.find((parameter) => /^(deferspec|incrementalspec)=/.test(parameter));
  return named === undefined ? '20220824' : (FORMATS[named] ?? null);
};
