import fc, { type GeneratorValue } from 'fast-check';
import { type DocumentNode, parse } from 'graphql';
import { expect, test } from 'vitest';
import { createEstimate } from '../../../src/graph/cost/estimate.ts';
import type { Operation } from '../../../src/graph/cost/operation-info.ts';
import { schema } from '../../../src/schema.ts';
import { ALL_SCOPES, type Scope } from '../../../src/scopes.ts';
import { createChainPricing } from '../../../src/upstream/client/request.ts';
import { RandomDocument } from '../../support/lookups/random-document.ts';
import { runs } from '../../support/runs.ts';
import { addressOf } from '../../support/upstream/builders.ts';

/** An estimate that is remembered is the one that would be made now. */

const DEFAULT_CHAINS = 14;
const SCOPES: readonly ReadonlySet<Scope>[] = [ALL_SCOPES, new Set(['wallets']), new Set(['deliveries'])];

/** Estimates that remember, and those of an operation that is the first. */
const createEstimates = () => {
  const pricing = createChainPricing(DEFAULT_CHAINS);
  const remembering = createEstimate(schema, pricing);
  return {
    pricing,
    compare(operation: Operation, scopes: ReadonlySet<Scope> = ALL_SCOPES) {
      const expected = createEstimate(schema, pricing)(operation, scopes);
      const got = remembering(operation, scopes);
      if (JSON.stringify(got) !== JSON.stringify(expected)) expect(got).toEqual(expected);
      return got;
    },
  };
};

const WALLETS = [
  addressOf(1),
  addressOf(2),
  addressOf(0xabc),
  addressOf(0xabc).replace('abc', 'ABC'),
  'none',
];

test('any operation has the estimates of its first time, whatever variables it had before', () => {
  fc.assert(
    fc.property(fc.gen(), (gen) => {
      const { compare, pricing } = createEstimates();
      const document = new RandomDocument(gen, schema);
      const parsed: DocumentNode = parse(document.text, { noLocation: true });
      const oneOf = <Value>(values: readonly Value[]): Value =>
        values[gen(fc.nat, values.length - 1)] as Value;
      const variablesOf = (given: GeneratorValue): Operation['variableValues'] => {
        const pair = [oneOf(WALLETS), oneOf(WALLETS)] as const;
        const variables = document.variables(pair, oneOf(['a cursor', 'another cursor', '', null]));
        // Callers leave variables out, too.
        return given(fc.integer, { min: 0, max: 9 }) === 0 ? {} : variables;
      };
      for (let time = 0; time < 12; time += 1) {
        if (time === 6) pricing.record('collectibles', null, 3);
        compare({ document: parsed, variableValues: variablesOf(gen) }, oneOf(SCOPES));
      }
    }),
    { numRuns: runs(60), endOnFailure: true },
  );
});

test('a wallet that is named twice costs once, and two wallets cost twice, in either order', () => {
  const { compare } = createEstimates();
  const document = parse(`query ($one: Address!, $other: Address!) {
    a: wallet(address: $one) { transactions { nodes { hash } } }
    b: wallet(address: $other) { transactions { nodes { hash } } }
  }`);
  const costOf = (one: string, other: string) =>
    compare({ document, variableValues: { one, other } }).computeUnits;
  expect(costOf(addressOf(1), addressOf(2))).toBe(2);
  expect(costOf(addressOf(3), addressOf(3))).toBe(1);
  expect(costOf(addressOf(4), addressOf(5))).toBe(2);
  expect(costOf(addressOf(0xabc), addressOf(0xabc).toUpperCase().replace('0X', '0x'))).toBe(1);
});

test('a wallet that is named by a literal as well costs once', () => {
  const { compare } = createEstimates();
  const document = parse(`query ($address: Address!) {
    a: wallet(address: $address) { transactions { nodes { hash } } }
    b: wallet(address: "${addressOf(1)}") { transactions { nodes { hash } } }
  }`);
  const costOf = (address: string) => compare({ document, variableValues: { address } }).computeUnits;
  expect(costOf(addressOf(2))).toBe(2);
  expect(costOf(addressOf(1))).toBe(1);
  expect(costOf(addressOf(3))).toBe(2);
});

test('a page that is named twice costs once, and two pages cost twice, whatever their cursors are', () => {
  const { compare } = createEstimates();
  const document = parse(`query ($address: Address!, $one: String, $other: String) {
    wallet(address: $address) {
      a: transactions(after: $one) { nodes { hash } }
      b: transactions(after: $other) { nodes { hash } }
    }
  }`);
  const costOf = (one: string | null, other?: string) =>
    compare({ document, variableValues: { address: addressOf(1), one, other } }).computeUnits;
  expect(costOf('x', 'y')).toBe(2);
  expect(costOf('z', 'z')).toBe(1);
  expect(costOf('y', 'x')).toBe(2);
  expect(costOf(null, 'x')).toBe(2);
  expect(costOf('null', 'x')).toBe(2);
});

test('a variable that is a cursor and a chain tag as well is no cursor alone', () => {
  const { compare } = createEstimates();
  const document = parse(`query ($address: Address!, $text: String!) {
    wallet(address: $address) { collectibles(after: $text, chainTags: [$text]) { nodes { tokenId } } }
  }`);
  const estimateOf = (text: string) => compare({ document, variableValues: { address: addressOf(1), text } });
  expect(estimateOf('mainnet').computeUnits).toBeGreaterThan(0);
  estimateOf('testnet');
  estimateOf('default');
});

test('the price of a request is the newest that upstream has billed', () => {
  const { compare, pricing } = createEstimates();
  const document = parse(`query ($address: Address!) {
    wallet(address: $address) { collectibles { nodes { tokenId } } }
  }`);
  const costOf = () => compare({ document, variableValues: { address: addressOf(1) } }).computeUnits;
  expect(costOf()).toBe(DEFAULT_CHAINS);
  pricing.record('collectibles', null, 5);
  expect(costOf()).toBe(5);
});
