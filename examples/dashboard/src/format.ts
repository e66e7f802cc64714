/** An amount in whole tokens, exactly: `value` is a decimal string in the smallest unit, of any size. */
export const formatUnits = (value: string, decimals: number): string => {
  const amount = BigInt(value);
  const digits = String(amount < 0n ? -amount : amount).padStart(decimals + 1, '0');
  const whole = BigInt(digits.slice(0, digits.length - decimals)).toLocaleString('en');
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${amount < 0n ? '−' : ''}${whole}${fraction && `.${fraction}`}`;
};

/** What an amount is counted in. */
export type Unit = { readonly symbol?: string | null; readonly decimals?: number | null };

/** An amount with its symbol, to six decimals: where more follow, it says so. Empty where the amount is unknown. */
export const formatAmount = (value: string | null | undefined, unit: Unit | null | undefined): string =>
  value ? `${shownOf(value, unit?.decimals ?? 0)} ${unit?.symbol ?? ''}`.trim() : '';

/** An approval of more than any token has. */
const UNLIMITED = 2n ** 255n;

const shownOf = (value: string, decimals: number): string =>
  BigInt(value) < UNLIMITED ? cut(formatUnits(value, decimals)) : 'unlimited';

const cut = (amount: string): string => amount.replace(/(\.\d{6})\d+$/, '$1…');

const usd = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' });
const percent = new Intl.NumberFormat('en', {
  style: 'percent',
  maximumFractionDigits: 1,
  signDisplay: 'always',
});

// Intl reads all digits of a string. A number would lose some.
export const formatUsd = (value: string): string => usd.format(value as `${number}`);
export const formatRatio = (value: string): string => percent.format(value as `${number}`);

/** The ends of an address or a hash. */
export const shorten = (hex: string): string => `${hex.slice(0, 6)}…${hex.slice(-4)}`;

export const formatTime = (time: string): string =>
  new Date(time).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short' });
