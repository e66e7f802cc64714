import { formatAmount } from 'evm-graphql-gateway/client';

/** `0x1234…cdef`: enough to recognise an address or a hash. */
export const shortHex = (hex: string): string =>
  hex.length > 13 ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : hex;

/** Characters that change the direction of what follows them: a text with them can pass for another one. */
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g;

/** Cuts a text that the service sent, which may have any length and any characters. */
export const shorten = (text: string, most = 80): string => {
  const plain = text.replace(DIRECTIONS, '');
  return plain.length > most ? `${plain.slice(0, most - 1)}…` : plain;
};

/** Whether a value of the service is an object with members. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `base_sepolia` as `base sepolia`, `swapETHForTokens` as `swap eth for tokens`. */
export const inWords = (name: string): string =>
  name
    .replace(/_/g, ' ')
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase();

/** What a chain is called, in words; `chain 8453` for one that the gateway has not listed. */
export type NameOfChain = (chainId: number | null) => string;

const relative = new Intl.RelativeTimeFormat('en', { style: 'long' });
const absolute = (timeZone?: string) =>
  new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'medium',
    timeStyle: 'medium',
    ...(timeZone && { timeZone }),
  });

const [inUtc, here] = [absolute('UTC'), absolute()];

const STEPS: readonly (readonly [seconds: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [31_557_600, 'year'],
  [2_629_800, 'month'],
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
];

/** How long ago it was: `4 minutes ago`. */
export const formatAge = (time: string, now: number): string => {
  const seconds = Math.round((Date.parse(time) - now) / 1000);
  // Clocks differ by some seconds.
  if (seconds > -5 && seconds < 60) return 'just now';
  for (const [size, unit] of STEPS)
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  return relative.format(seconds, 'second');
};

/** The time in UTC, to the second. */
export const formatUtc = (time: string): string => `${inUtc.format(new Date(time))} UTC`;

const clockHere = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

/** The time where the reader is, to the second. Beside a time of the same day, without the date. */
export const formatTime = (time: string, beside?: string): string => {
  const [date, other] = [time, beside ?? ''].map((each) => new Date(each).toDateString());
  return (date === other ? clockHere : here).format(new Date(time));
};

type NativeOf = {
  readonly chainId: number;
  readonly nativeToken: { readonly symbol: string | null; readonly decimals: number | null };
};

/** The chains' own currencies, as far as the gateway has listed them. */
let natives: ReadonlyMap<number, NativeOf['nativeToken']> = new Map();

export const setNatives = (chains: readonly NativeOf[]): void => {
  natives = new Map(chains.map(({ chainId, nativeToken }) => [chainId, nativeToken]));
};

/** The symbol of a chain's own currency; `native` where the gateway does not know it, or was not asked yet. */
export const nativeSymbol = (chainId: number | null): string => natives.get(chainId ?? 0)?.symbol ?? 'native';

/** The decimals of a chain's own currency; 18, as of almost all, where the gateway does not know them, or was not asked yet. */
export const nativeDecimals = (chainId: number | null): number => natives.get(chainId ?? 0)?.decimals ?? 18;

const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+(?!\d))/g, ',');

const dollars = (options: Intl.NumberFormatOptions) =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', ...options });

const [withCents, withDigits] = [dollars({}), dollars({ maximumSignificantDigits: 3 })];
const [inFractions, inDigits] = [
  dollars({ maximumFractionDigits: 5 }),
  dollars({ maximumSignificantDigits: 5 }),
];

/** Dollars with cents, or with three digits when it is less than a cent, from a decimal number of the gateway. */
export const formatUsd = (value: string): string => {
  const size = Math.abs(Number(value));
  // The formatter keeps the digits of a text.
  return (size < 0.01 && size !== 0 ? withDigits : withCents).format(value as Intl.StringNumericLiteral);
};

/** The price of one token in dollars: the smaller it is, the more decimals are shown. */
export const formatPrice = (price: string): string => {
  const size = Number(price);
  if (size >= 10 ** MOST_DIGITS) return formatUsdBriefly(price);
  const format = size >= 100 ? withCents : size >= 0.01 || size === 0 ? inFractions : inDigits;
  return format.format(price as Intl.StringNumericLiteral);
};

/** Whether a whole number of the gateway, in digits, is zero. */
export const isZero = (amount: string): boolean => /^0*$/.test(amount);

export const formatCount = (count: number): string => grouped(String(count));

/** `1 chain`, `14 chains`. */
export const counted = (count: number, one: string, many: string): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' });
const longDay = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
});

/** The hour and minute in the reader's time zone. */
export const formatClock = (time: string): string => clock.format(new Date(time));

/** A day of the reader's calendar, `2026-03-31`, as `Tue, 31 Mar 2026`. Another text stays as it is. */
export const formatDay = (day: string): string => {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number);
  const time = new Date(year, month - 1, date);
  return Number.isNaN(time.getTime()) ? day : longDay.format(time);
};

const changes = new Intl.NumberFormat('en', {
  style: 'percent',
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
  // By the rounded number, so that nothing shows as minus zero.
  signDisplay: 'exceptZero',
});

/** A ratio of change, `0.0123`, as `+1.23%`. */
export const formatChange = (ratio: string): string => changes.format(Number(ratio)).replace('-', '−');

/** Whether a formatted change is for the better, for the worse, or none. */
export const toneOf = (change: string): string =>
  change.startsWith('+') ? 'good' : change.startsWith('−') ? 'bad' : 'quiet';

/** A decimal with grouped digits, cut behind six decimal places. */
export const formatDecimal = (decimal: string): string => {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return formatAmount(`${whole}${fraction}`, fraction.length);
};

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';
/** More digits than the world has dollars. */
const MOST_DIGITS = 15;

/** An absurd number as a power of ten, without rounding; null for one that can be read at a glance. */
const absurd = (whole: string): string | null => {
  if (whole.length <= MOST_DIGITS) return null;
  const power = [...String(whole.length - 1)].map((digit) => SUPERSCRIPTS[Number(digit)]).join('');
  return `${whole[0]}.${whole.slice(1, 3)} × 10${power}`;
};

/** Dollars, of which an absurd number is shortened: `$1.23 × 10²¹`. */
export const formatUsdBriefly = (value: string): string => {
  const [whole = ''] = value.replace('-', '').split('.');
  const short = absurd(whole);
  return short === null ? formatUsd(value) : `${value.startsWith('-') ? '-' : ''}$${short}`;
};

const ALL_DIGITS = 255;

/** An amount in whole tokens, of which an absurd one is shortened: what is shown, and what its title says exactly. */
export const amountIn = (
  amount: string,
  decimals: number,
): { readonly shown: string; readonly exact: string } => {
  const text = formatAmount(amount, decimals);
  const short = absurd(text.replace(/[−,]|\..*/g, ''));
  const shown = short === null ? text : `${text.startsWith('−') ? '−' : ''}${short}`;
  return { shown, exact: formatAmount(amount, decimals, ALL_DIGITS) };
};
