import { shorten } from '../format/text.ts';
import { settings } from '../settings.ts';
import { isAddress } from '../state/route.ts';

type Entered = { readonly address: string } | { readonly error: string };

const expected = (): string => {
  const [first] = settings.wallets;
  return `Expected an address, 0x and 40 hex digits${first ? `, or the name of a wallet of the sandbox such as ${first.name}` : ''}`;
};

const got = (text: string): string => {
  if (text === '') return 'nothing';
  const digits = /^0x([\da-f]*)$/i.exec(text)?.[1];
  if (digits !== undefined) return `0x and ${digits.length} hex digits`;
  return JSON.stringify(shorten(text, 50));
};

/** Reads what was typed or pasted: an address in any case, or the name of one of the sandbox's wallets. */
export const readAddress = (typed: string): Entered => {
  const text = typed.trim();
  const named = settings.wallets.find(({ name }) => name === text.toLowerCase());
  if (named) return { address: named.address.toLowerCase() };
  return isAddress(text) ? { address: text.toLowerCase() } : { error: `${expected()}, got ${got(text)}.` };
};
