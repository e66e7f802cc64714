import { counted, formatCount, shorten } from '../format.ts';
import { isAddress } from '../route.ts';

/** What a text with addresses holds. */
type PastedAddresses = {
  /** Each once, as it was typed: the gateway checks the checksum of one in mixed case. */
  readonly addresses: readonly string[];
  /** Why it can't be sent; null when it can. */
  readonly wrong: string | null;
  /** How many were found, for the reader who pastes them. */
  readonly found: string;
};

/** Includes the punctuation of a JSON list. */
const SEPARATORS = /[\s,;|"'`[\]]+/;

const MOST_NAMED = 5;

/** `1 address`, `2,000 addresses`. */
export const inAddresses = (count: number): string => counted(count, 'address', 'addresses');

const whyWrong = (addresses: number, wrong: readonly string[]): string | null => {
  if (wrong.length === 0) return addresses === 0 ? 'Expected at least one address, got none.' : null;
  const named = wrong.slice(0, MOST_NAMED).map((word) => `“${shorten(word, 50)}”`);
  const more = wrong.length - named.length;
  const rest = more > 0 ? ` and ${formatCount(more)} more` : '';
  return `Expected addresses (0x and 40 hex digits each), got ${named.join(', ')}${rest}.`;
};

export const parseAddresses = (text: string): PastedAddresses => {
  const words = text.split(SEPARATORS).filter(Boolean);
  const good = words.filter(isAddress);
  const byAddress = Map.groupBy(good, (word) => word.toLowerCase());
  const addresses = [...byAddress.values()].flatMap(([first]) => first?.replace(/^0X/, '0x') ?? []);
  const wrong = [...new Set(words.filter((word) => !isAddress(word)))];
  const repeats = good.length - addresses.length;
  const facts = [
    inAddresses(addresses.length),
    repeats > 0 && `${formatCount(repeats)} repeated`,
    wrong.length > 0 && `${formatCount(wrong.length)} that can’t be read`,
  ].filter(Boolean);
  const found =
    words.length === 0
      ? 'One or many, with spaces, commas, semicolons or line breaks between them.'
      : `${facts.join(', ')}.`;
  return { addresses, wrong: whyWrong(addresses.length, wrong), found };
};
