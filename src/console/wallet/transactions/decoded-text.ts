import type { TransactionRowFragment } from '../../__generated__/operations.ts';
import { inWords, shorten, shortHex } from '../../format/text.ts';
import { formatUnits } from '../../format/units.ts';
import { nameOf } from '../../settings.ts';

/** A decoded call, or a decoded event of a log. */
export type Decoded = NonNullable<TransactionRowFragment['decoded']>;
type Input = Decoded['inputs'][number];

const MAX_LEVELS = 3;
const MAX_ITEMS = 3;
const MOST_UINT256 = (2n ** 256n - 1n).toString();

const stringText = (value: string): string => {
  if (/^0x[\da-f]*$/i.test(value)) return nameOf(value) ?? shortHex(value);
  if (value === MOST_UINT256) return '2^256 − 1';
  if (/^-?\d+$/.test(value)) return shorten(formatUnits(shorten(value, 100), 0), 30);
  return JSON.stringify(shorten(value, 40));
};

/** A decoded value in a few words. It may be a text of any length, or lists and objects in each other. */
const valueText = (value: unknown, level = 0): string => {
  if (value === null || value === undefined) return 'not decoded';
  if (typeof value === 'string') return stringText(value);
  if (typeof value !== 'object') return String(value);
  if (level >= MAX_LEVELS) return '…';
  const parts = Array.isArray(value)
    ? value.slice(0, MAX_ITEMS).map((item) => valueText(item, level + 1))
    : Object.entries(value)
        .slice(0, MAX_ITEMS)
        .map(([name, item]) => `${shorten(name, 20)} ${valueText(item, level + 1)}`);
  const more = (Array.isArray(value) ? value : Object.keys(value)).length > MAX_ITEMS ? ', …' : '';
  return Array.isArray(value) ? `[${parts.join(', ')}${more}]` : `{${parts.join(', ')}${more}}`;
};

const inputText = ({ name, value }: Input): string =>
  `${name ? inWords(shorten(name, 24)).trim() : ''} ${shorten(valueText(value), 80)}`.trim();

/** A call or an event in words: `transfer to 0x12…ab, value 1,000`. */
export const decodedText = ({ name, inputs }: Decoded): string => {
  const words = inputs.slice(0, MAX_ITEMS).map(inputText).join(', ');
  const more = inputs.length > MAX_ITEMS ? ', …' : '';
  return `${inWords(shorten(name ?? 'unnamed', 60))} ${words}${more}`.trim();
};

const isZero = (amount: string): boolean => /^0*$/.test(amount);

/** What a transaction does, in words. */
export const transactionText = ({ decoded, to, value }: TransactionRowFragment): string => {
  if (decoded) return decodedText(decoded);
  if (to === null) return 'creates a contract';
  return value !== null && !isZero(value) ? 'sends value' : `calls ${shortHex(to)}`;
};
