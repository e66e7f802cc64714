import { expect, test } from 'vitest';
import {
  formatAge,
  formatChange,
  formatCount,
  formatDay,
  formatDecimal,
  formatUsd,
  formatUsdBriefly,
  formatUtc,
  inWords,
  nativeDecimals,
  nativeSymbol,
  setNatives,
  shorten,
  shortHex,
} from '../../src/console/format.ts';
import { fieldOf } from '../../src/console/webhooks/webhook-words.ts';

/** How the console writes what the service says. */

test('dollars, counts and the currencies of chains', () => {
  expect(['0', '0.00123456', '0.5', '153.9692', '-2', '12345678901234567890.12'].map(formatUsd)).toEqual([
    '$0.00',
    '$0.00123',
    '$0.50',
    '$153.97',
    '-$2.00',
    '$12,345,678,901,234,567,890.12',
  ]);
  expect(formatCount(1_234_567)).toBe('1,234,567');
  const symbolsOf = () => [1, 137, 4242, null].map(nativeSymbol);
  expect(symbolsOf()).toEqual(['native', 'native', 'native', 'native']);
  setNatives([
    { chainId: 1, nativeToken: { symbol: 'ETH', decimals: 18 } },
    { chainId: 137, nativeToken: { symbol: 'USDC', decimals: 6 } },
    { chainId: 4242, nativeToken: { symbol: null, decimals: null } },
  ]);
  expect(symbolsOf()).toEqual(['ETH', 'USDC', 'native', 'native']);
  expect([1, 137, 4242, null].map(nativeDecimals)).toEqual([18, 6, 18, 18]);
});

test('absurd dollars are short, changes have a sign, and days are those of the calendar', () => {
  expect(
    ['1233346836175539000000.5', '-9388386012000030000', '999999999999999.99'].map(formatUsdBriefly),
  ).toEqual(['$1.23 × 10²¹', '-$9.38 × 10¹⁸', '$999,999,999,999,999.99']);
  expect(['0.1234', '-0.02576', '0'].map(formatChange)).toEqual(['+12.34%', '−2.58%', '0.00%']);
  expect(['59754.0', '1234.5678901', '0.00000001'].map(formatDecimal)).toEqual([
    '59,754',
    '1,234.56789',
    '<0.000001',
  ]);
  expect(['2026-03-31', 'no day'].map(formatDay)).toEqual(['Tue, 31 Mar 2026', 'no day']);
});

test('names of functions and chains in words', () => {
  expect(inWords('swapExactETHForTokens')).toBe('swap exact eth for tokens');
  expect(inWords('base_sepolia')).toBe('base sepolia');
  expect(shorten('x'.repeat(10_000), 10)).toBe(`${'x'.repeat(9)}…`);
  expect(shortHex('0x902a838b1e415d7b')).toBe('0x902a…5d7b');
});

test('ages and times', () => {
  const now = Date.parse('2026-01-02T03:04:05Z');
  expect(formatAge('2026-01-02T03:04:05Z', now)).toBe('just now');
  expect(formatAge('2026-01-02T02:00:00Z', now)).toBe('1 hour ago');
  // A service whose clock is ahead.
  expect(formatAge('2026-01-02T03:04:10Z', now)).toBe('just now');
  expect(formatUtc('2026-01-02T03:04:05Z')).toBe('2 Jan 2026, 03:04:05 UTC');
});

test.each([
  ['Variable "$input" has invalid value at .addresses[1]: Expected an address', 'addresses'],
  ['Variable "$input" got invalid value "x" at "input.url"; Expected a URL', 'url'],
  ['token_address is not for webhooks of this type', 'tokenAddress'],
  ['The target type is unknown', 'type'],
  ['Something else went wrong', null],
])('a refusal is said at the field that it names: %s', (message, field) => {
  expect(fieldOf(message, ['name', 'type', 'addresses', 'url', 'tokenAddress'])).toBe(field);
});
