/** An amount in whole tokens, exactly: `value` is a decimal string in the smallest unit, of any size. */
export const formatUnits = (value: string, decimals: number): string => {
  const amount = BigInt(value);
  const digits = String(amount < 0n ? -amount : amount).padStart(decimals + 1, '0');
  const whole = BigInt(digits.slice(0, digits.length - decimals)).toLocaleString('en');
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${amount < 0n ? '−' : ''}${whole}${fraction && `.${fraction}`}`;
};

/** The ends of an address or a hash. */
export const shorten = (hex: string): string => `${hex.slice(0, 6)}…${hex.slice(-4)}`;

export const formatTime = (time: string): string =>
  new Date(time).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short' });
