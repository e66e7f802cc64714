import { formatAmount as format, isUnlimited } from 'evm-graphql-gateway/client';

/** What an amount is counted in. */
export type Unit = {
  readonly symbol?: string | null | undefined;
  readonly decimals?: number | null | undefined;
};

/** An amount with its symbol, to six decimals. Empty where the amount is unknown. */
export const formatAmount = (value: string | null | undefined, unit: Unit | null | undefined): string =>
  value ? `${shownOf(value, unit?.decimals ?? 0)} ${unit?.symbol ?? ''}`.trim() : '';

const shownOf = (value: string, decimals: number): string =>
  isUnlimited(value) ? 'unlimited' : format(value, decimals);

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
