import {
  compareDecimals,
  formatAmount,
  formatUnits,
  isUnlimited,
  parseUnits,
  sumDecimals,
} from 'evm-graphql-gateway/client';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Decimal } from '../../src/lib/decimal.ts';

/** The exact amounts of the client package. */

test.each([
  ['0', 18, '0'],
  ['1', 18, '<0.000001'],
  ['-1', 18, '−<0.000001'],
  ['1000000000000', 18, '0.000001'],
  ['1234500000000000000', 18, '1.2345'],
  ['-1234500000000000000', 18, '−1.2345'],
  ['1000000000000000000000', 18, '1,000'],
  ['1234567', 0, '1,234,567'],
  ['42', 2, '0.42'],
  [
    String(2n ** 256n - 1n),
    0,
    '115,792,089,237,316,195,423,570,985,008,687,907,853,269,984,665,640,564,039,457,584,007,913,129,639,935',
  ],
])('%s of %i decimals is %s', (amount, decimals, shown) => {
  expect(formatAmount(amount, decimals)).toBe(shown);
});

test('an amount of any size is shown without a rounded digit', () => {
  const amounts = fc.tuple(fc.bigInt({ min: 0n, max: 2n ** 256n }), fc.integer({ min: 0, max: 77 }));
  fc.assert(
    fc.property(amounts, ([amount, decimals]) => {
      const shown = formatAmount(String(amount), decimals);
      if (shown === '<0.000001') return amount > 0n && amount * 1_000_000n < 10n ** BigInt(decimals);
      const [whole = '', fraction = ''] = shown.replaceAll(',', '').split('.');
      const unit = 10n ** BigInt(decimals);
      const digits = fraction.padEnd(6, '0');
      return BigInt(whole) === amount / unit && BigInt(digits) === ((amount % unit) * 1_000_000n) / unit;
    }),
  );
});

test('sums and the order of decimals are exact', () => {
  const decimals = fc
    .tuple(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), fc.integer({ min: 0, max: 30 }))
    .map(([digits, places]) => new Decimal(String(digits)).shiftedBy(-places).toFixed());
  fc.assert(
    fc.property(fc.array(decimals, { maxLength: 20 }), decimals, decimals, (terms, one, other) => {
      const sum = terms.reduce((total, term) => total.plus(term), new Decimal(0));
      expect(sum.isEqualTo(sumDecimals(terms))).toBe(true);
      expect(compareDecimals(one, other)).toBe(new Decimal(one).comparedTo(other));
    }),
  );
});

test('an amount in whole units is that of the smallest unit, and back', () => {
  expect(['1500000', '0', '-1', '-0', '007'].map((amount) => formatUnits(amount, 6))).toEqual([
    '1.5',
    '0',
    '-0.000001',
    '0',
    '0.000007',
  ]);
  expect(['1.5', '0', '-0.000001', '12', '1.50000000'].map((amount) => parseUnits(amount, 6))).toEqual([
    '1500000',
    '0',
    '-1',
    '12000000',
    '1500000',
  ]);
  expect(formatUnits(2n ** 70n, 18)).toBe('1180.591620717411303424');
  const amounts = fc.tuple(
    fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n }),
    fc.integer({ min: 0, max: 77 }),
  );
  fc.assert(
    fc.property(amounts, ([amount, decimals]) => {
      expect(parseUnits(formatUnits(amount, decimals), decimals)).toBe(String(amount));
    }),
  );
});

test.each(['', '1e3', '1.5', '0x1', ' 1', '1,000', 'NaN'])('%j is no amount of the smallest unit', (text) => {
  expect(() => formatUnits(text, 6)).toThrow(TypeError);
  expect(() => formatAmount(text, 6)).toThrow('Expected an amount in digits');
});

test.each(['', '.5', '1.', '1e3', '1.2345678', '١'])(
  '%j is no amount in whole units of six decimals',
  (text) => {
    expect(() => parseUnits(text, 6)).toThrow(TypeError);
  },
);

test('an allowance without a limit is told from others', () => {
  expect([2n ** 256n - 1n, 2n ** 128n - 1n, 2n ** 128n - 2n].map(isUnlimited)).toEqual([true, true, false]);
});
