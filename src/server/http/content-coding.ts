import Negotiator from 'negotiator';
import { rememberLast } from '../../lib/remember-last.ts';

/** The content codings of answers. Where a client has no preference, the first one counts: docs/performance.md says why. */
const CODINGS = ['zstd', 'br', 'gzip'] as const;

export type ContentCoding = (typeof CODINGS)[number];

const AVAILABLE = [...CODINGS, 'identity'];

/** Clients send a few dozen characters. To read 16 KB of them would cost more than most answers. */
const MAX_CHARACTERS = 1024;

/** The published types of `negotiator` lack the option. */
type ByPreference = {
  encoding(available: string[], options: { readonly preferred: readonly string[] }): string | undefined;
};

/**
 * Returns the coding that a client prefers by its Accept-Encoding; null for an answer as it is. A client that refuses that
 * as well gets it nevertheless (RFC 9110, 12.5.3): a refusal would hide what a mutation has done. So does a client that
 * sends too long a list.
 */
export const preferredCoding = rememberLast((acceptEncoding): ContentCoding | null => {
  if (acceptEncoding.length > MAX_CHARACTERS) return null;
  const negotiator: ByPreference = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } });
  const preferred = negotiator.encoding(AVAILABLE, { preferred: AVAILABLE });
  return CODINGS.find((coding) => coding === preferred) ?? null;
});
