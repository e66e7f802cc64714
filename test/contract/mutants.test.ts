import { afterAll, beforeAll, expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { openSandbox } from '../backend/support/sandbox.ts';
import { EVERY_LOOKUP } from './mutants/every-lookup.ts';
import { LOOKUPS } from './mutants/lookups.ts';
import { NOTED } from './mutants/noted.ts';
import { delivering, WEBHOOK_MUTANTS } from './mutants/webhooks.ts';
import type { Point } from './point.ts';
import { POINTS } from './registry.ts';
import { type Passing, type Returning, startBendingProxy } from './support/bending-proxy.ts';
import type { Mutant } from './support/bends.ts';
import { judge, named, remarks } from './support/judge.ts';

/** Each point of the contract must be able to fail: servers that differ in one way, and the points that see it. */

const MUTANTS = [...EVERY_LOOKUP, ...LOOKUPS, ...WEBHOOK_MUTANTS];

const FIELDS = 'has the documented fields in their forms';

const breaks = ([, , operations, promises]: Mutant, { operation, expects }: Point): boolean =>
  operations.test(operation) && promises.some((start) => expects.startsWith(start));

let sandbox: Awaited<ReturnType<typeof openSandbox>>;
let proxy: Awaited<ReturnType<typeof startBendingProxy>>;
beforeAll(async () => {
  sandbox = await openSandbox();
  proxy = await startBendingProxy(sandbox.url);
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await sandbox.stop();
});

test.each([
  ...MUTANTS.map((mutant) => [mutant[0], 'differs', mutant] as const),
  ...NOTED.map((mutant) => [mutant[0], 'note', mutant] as const),
])('a server that %s: %s', async (_, wanted, mutant) => {
  proxy.bend(mutant[1]);
  const results = await judge({ url: proxy.url, only: (point) => breaks(mutant, point) });
  const unseen = results.filter(({ status }) => status !== wanted);
  expect(unseen.map((result) => [named(result), result.status, result.why, result.findings])).toEqual([]);
  expect(results.length).toBeGreaterThan(0);
});

test('each point can fail', () => {
  const mutants = [...MUTANTS, ...NOTED];
  const unseen = POINTS.filter(
    (point) => point.expects !== FIELDS && !mutants.some((mutant) => breaks(mutant, point)),
  );
  expect(unseen.map((point) => named({ point }))).toEqual([]);
});

/** The places of all values in a JSON, as findings name them. */
const placesIn = (value: unknown, at: string): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap((each) => placesIn(each, `${at}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const place = at === '' ? name : `${at}.${name}`;
    return [place, ...placesIn(member, place)];
  });
};

/** The JSON with something else in a place. */
const broken = (value: unknown, at: string, place: string): unknown => {
  if (Array.isArray(value)) return value.map((each) => broken(each, `${at}[]`, place));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const inside = at === '' ? name : `${at}.${name}`;
      return [name, inside === place ? [[7]] : broken(member, inside, place)];
    }),
  );
};

/** Where every lookup has data. */
const WALLETS = { wallets: ['whale', 'defi'].map(demoAddress), chainId: 1, webhooks: false };

test('each field of each lookup can differ', async () => {
  const isFields = ({ expects }: Pick<Point, 'expects'>) => expects === FIELDS;
  const lookups = POINTS.filter(isFields).map(({ operation }) => operation);
  const unseen: string[] = [];
  for (const operation of lookups) {
    const only = (point: Point) => isFields(point) && point.operation === operation;
    const pattern = new RegExp(`^${operation.replace('GET ', '').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
    // The first page of a wallet's transactions tells where to look, and stays as it is.
    const isAsked = ({ path, query }: Passing) =>
      pattern.test(path) && (!operation.includes('/transactions/') || query.has('chain_ids'));
    let body: unknown;
    proxy.bend({
      answer(answer, passing) {
        if (isAsked(passing)) body = JSON.parse(answer.body);
      },
    });
    expect(remarks(await judge({ url: proxy.url, only, ...WALLETS }))).toEqual([]);
    for (const place of new Set(placesIn(body, ''))) {
      proxy.bend({
        answer(answer: Returning, passing) {
          if (isAsked(passing)) answer.body = JSON.stringify(broken(JSON.parse(answer.body), '', place));
        },
      });
      const [result] = await judge({ url: proxy.url, only, ...WALLETS });
      const isSeen = result?.findings.some(({ at }) => at === '' || at.startsWith(place));
      if (!isSeen) unseen.push(`${operation} ${place}`);
    }
  }
  expect(unseen).toEqual([]);
});

test.each(['transactions', 'activities', 'balances'])(
  'each field of a delivery of %s can differ',
  async (type) => {
    const only = ({ expects }: Point) => expects === `delivers events of type ${type}`;
    let body: unknown;
    proxy.bend(
      delivering((passing) => {
        body = JSON.parse(passing.body);
      }),
    );
    expect(remarks(await judge({ url: proxy.url, only, ...WALLETS, webhooks: true }))).toEqual([]);
    const unseen: string[] = [];
    for (const place of new Set(placesIn(body, ''))) {
      proxy.bend(
        delivering((passing) => {
          passing.body = JSON.stringify(broken(JSON.parse(passing.body), '', place));
        }),
      );
      const [result] = await judge({ url: proxy.url, only, ...WALLETS, webhooks: true });
      if (!result?.findings.some(({ at }) => at.startsWith(place))) unseen.push(place);
    }
    expect(unseen).toEqual([]);
  },
);
