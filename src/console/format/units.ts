/** The symbols of the chains' own currencies, by chain id. */
const NATIVE: Readonly<Record<number, string>> = {
  ...{ 1: 'ETH', 10: 'ETH', 56: 'BNB', 100: 'xDAI', 137: 'POL', 250: 'FTM', 324: 'ETH', 5000: 'MNT' },
  ...{ 8453: 'ETH', 42161: 'ETH', 42220: 'CELO', 43114: 'AVAX', 59144: 'ETH', 81457: 'ETH', 534352: 'ETH' },
};

/** The decimals of every chain's own currency: 10^18 wei are one. */
export const NATIVE_DECIMALS = 18;

/** The symbol of a chain's own currency; `native` for a chain that is not known here. */
export const nativeSymbol = (chainId: number | null): string => NATIVE[chainId ?? 0] ?? 'native';

const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+(?!\d))/g, ',');

/**
 * Writes an amount of the smallest unit in whole units, exactly up to six significant decimals: `1234500000000000000` with
 * 18 decimals is `1.2345`. An amount that is smaller than that is shown as `<0.000001`.
 */
export const formatUnits = (amount: string, decimals: number): string => {
  const negative = amount.startsWith('-');
  const digits = amount.replace(/^-/, '').padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals);
  const shown = fraction.slice(0, 6).replace(/0+$/, '');
  const sign = negative ? '−' : '';
  if (/^0*$/.test(whole) && shown === '' && /[1-9]/.test(fraction)) return `${sign}<0.000001`;
  return `${sign}${grouped(whole)}${shown === '' ? '' : `.${shown}`}`;
};

const dollars = (options: Intl.NumberFormatOptions) =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', ...options });

const [withCents, withDigits] = [dollars({}), dollars({ maximumSignificantDigits: 3 })];

/** Dollars with cents, or with three digits when it is less than a cent. */
export const formatUsd = (value: number): string =>
  (Math.abs(value) < 0.01 && value !== 0 ? withDigits : withCents).format(value);

export const formatCount = (count: number): string => grouped(String(count));
