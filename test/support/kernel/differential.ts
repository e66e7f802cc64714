import { isUtf8 } from 'node:buffer';
import { parseExactJson } from '../../../src/lib/json/exact-json.ts';
import { UpstreamError } from '../../../src/upstream/client/errors.ts';
import type { IndexedPage } from '../../../src/upstream/kernel/indexed-page.ts';
import { createPageKernel } from '../../../src/upstream/kernel/page-kernel.ts';
import type { AnyLookup } from '../../../src/upstream/lookup.ts';
import type { Page } from '../../../src/upstream/page.ts';
import { MalformedFieldError } from '../../../src/upstream/parse/fields.ts';
import { CHAINS, createItemWriter, cursorAt, randomPlan, wholePlan } from './plans.ts';
import type { Random } from './random.ts';

/** Compares the kernel with the plain reader, page by page. */

const WALLET = '0x00000000000000000000000000000000000000aa';
const MAX_ITEMS = 50;

export const kernel = createPageKernel();

/** Returns the page as the plain reader reads it; the error of one that it refuses. */
const readPlain = async ({ parser }: AnyLookup, text: string): Promise<Page<object> | Error> => {
  try {
    const body = { json: parseExactJson(text) };
    return await parser.toPage(body, { subject: WALLET, limit: MAX_ITEMS, fetchedAt: 0 });
  } catch (error) {
    if (error instanceof UpstreamError || error instanceof SyntaxError) return error;
    throw error;
  }
};

export type Counts = {
  bodies: number;
  refused: number;
  left: number;
  items: number;
  odd: number;
  malformed: number;
};

export const newCounts = (): Counts => ({ bodies: 0, refused: 0, left: 0, items: 0, odd: 0, malformed: 0 });

const fail = (what: string, got: unknown, expected: unknown, text: string): never => {
  throw new Error(`${what}: got ${String(got)}, expected ${String(expected)}, of ${text}`);
};

const assertEqual = (what: string, got: unknown, expected: unknown, text: string): void => {
  if (got !== expected) fail(what, got, expected, text);
};

const messageOf = (page: Page<object> | Error): string =>
  page instanceof Error ? page.message : JSON.stringify({ ...page, items: null });

/**
 * Asserts that the kernel finds on the page what the plain reader does, or leaves it to the plain parser. It writes a random
 * selection of the items, or `everything`.
 */
export const compare = async (
  list: AnyLookup,
  body: Buffer,
  random: Random,
  counts: Counts,
  everything = false,
): Promise<void> => {
  counts.bodies += 1;
  const at = random.below(body.length + 1);
  const page = kernel.index([body.subarray(0, at), body.subarray(at)], list, MAX_ITEMS);
  const text = body.toString();
  const plain = isUtf8(body) ? await readPlain(list, text) : new SyntaxError('no UTF-8');
  if (page === null) {
    if (plain instanceof Error) counts.refused += 1;
    else counts.left += 1;
    return;
  }
  if (plain instanceof SyntaxError) fail('what is no JSON of UTF-8', 'a page', plain.message, text);
  const envelope = await readPlain(list, page.envelope());
  assertEqual('envelope', messageOf(envelope), messageOf(plain), text);
  if (plain instanceof Error) return;
  compareItems(page, plain, text, counts);
  const plan = everything ? wholePlan(list, random) : randomPlan(list, random);
  compareWritten(page, plain, plan, random, text);
};

const compareItems = (page: IndexedPage, { items }: Page<object>, text: string, counts: Counts): void => {
  assertEqual('length', page.length, items.length, text);
  const identities = new Map<string, number>();
  for (let index = 0; index < items.length; index += 1) {
    counts.items += 1;
    const value = items.value(index);
    if (value instanceof MalformedFieldError) counts.malformed += 1;
    if (page.isOdd(index)) {
      counts.odd += 1;
      continue;
    }
    if (value instanceof MalformedFieldError) fail('malformed', 'an item', value.message, text);
    const identity = page.identity(index);
    // The reader of the page counts equal items.
    assertEqual('identity', identity, items.identity(index).split('~')[0], text);
    // The plain reader reads the numbers that a list descends by.
    if (items.order !== 'descendingBy') assertEqual('rank', page.time(index), items.rank(index), text);
    if (identities.has(identity)) assertEqual('repeats', page.hasRepeats, true, text);
    else identities.set(identity, index);
  }
  for (const [identity, index] of identities)
    assertEqual('indexOf', kernel.indexOf(page, identity), index, text);
};

/** Compares a part of the page, and that part of it again. */
const compareWritten = (
  page: IndexedPage,
  { items }: Page<object>,
  plan: ReturnType<typeof randomPlan>,
  random: Random,
  text: string,
): void => {
  const compiled = kernel.compile(plan, page.list);
  if (compiled === null) throw new Error(`no plan of ${JSON.stringify(plan)}`);
  const values = { subject: WALLET, chains: CHAINS, cursorOf: cursorAt };
  const whole = plan.kind === 'nodes';
  const from = whole ? 0 : random.below(page.length + 1);
  const to = whole ? page.length : from + random.below(page.length - from + 1);
  const writeItem = createItemWriter(plan);
  const expected = [];
  const got = [];
  for (let index = from; index < to; index += 1) {
    const value = items.value(index);
    expected.push(value instanceof MalformedFieldError ? 'null' : writeItem(value, index));
  }
  for (let index = from; index < to; ) {
    const { bytes, next, isOdd } = kernel.write(compiled, page, index, to, values);
    if (bytes.length > 0) got.push(Buffer.from(bytes).toString());
    if (isOdd) got.push(expected[next - from]);
    else if (next === index) fail('write', 'no progress', to, text);
    index = isOdd ? next + 1 : next;
  }
  if (got.join() !== expected.join())
    fail(`written by ${JSON.stringify(plan)}`, got.join(), expected.join(), text);
};
