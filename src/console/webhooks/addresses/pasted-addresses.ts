import { shorten } from '../../format/text.ts';
import { formatCount } from '../../format/units.ts';
import { isAddress } from '../../state/route.ts';

/** What a text with addresses holds. */
export type PastedAddresses = {
  /** Each once, as it was typed: the gateway checks the checksum of one in mixed case. */
  readonly addresses: readonly string[];
  readonly wrong: readonly string[];
  /** How many repeat another, in any case. */
  readonly duplicates: number;
};

/** Also what stands around the texts of a JSON list. */
const SEPARATORS = /[\s,;|"'`[\]]+/;

const MOST_NAMED = 5;

export const parseAddresses = (text: string): PastedAddresses => {
  const found = new Map<string, string>();
  const wrong = new Set<string>();
  let duplicates = 0;
  for (const word of text.split(SEPARATORS)) {
    if (word === '') continue;
    const lower = word.toLowerCase();
    if (!isAddress(word)) wrong.add(word);
    else if (found.has(lower)) duplicates += 1;
    else found.set(lower, word.replace(/^0X/, '0x'));
  }
  return { addresses: [...found.values()], wrong: [...wrong], duplicates };
};

/** `1 address`, `2,000 addresses`. */
export const inAddresses = (count: number): string =>
  `${formatCount(count)} ${count === 1 ? 'address' : 'addresses'}`;

/** Why the text can't be sent; null when it can. */
export const wrongAddresses = ({ addresses, wrong }: PastedAddresses): string | null => {
  if (wrong.length > 0) {
    const named = wrong.slice(0, MOST_NAMED).map((word) => `“${shorten(word, 50)}”`);
    const more = wrong.length - named.length;
    const rest = more > 0 ? ` and ${formatCount(more)} more` : '';
    return `Expected addresses (0x and 40 hex digits each), got ${named.join(', ')}${rest}.`;
  }
  return addresses.length === 0 ? 'Expected at least one address, got none.' : null;
};

/** How many were found, for the reader who pastes them. */
export const countOf = ({ addresses, wrong, duplicates }: PastedAddresses): string => {
  if (addresses.length + wrong.length === 0)
    return 'One or many: spaces, commas, semicolons or lines between them.';
  const repeated = duplicates === 0 ? '' : `, without ${formatCount(duplicates)} that repeat another`;
  const not = wrong.length === 0 ? '' : `; ${formatCount(wrong.length)} can’t be read`;
  return `${inAddresses(addresses.length)}${repeated}${not}.`;
};
