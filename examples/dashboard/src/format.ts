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

/** An amount with its symbol. Empty where the amount is unknown. */
export const formatAmount = (value: string | null | undefined, unit: Unit | null | undefined): string =>
  value ? `${formatUnits(value, unit?.decimals ?? 0)} ${unit?.symbol ?? ''}`.trim() : '';

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
