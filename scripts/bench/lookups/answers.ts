import { isDeepStrictEqual } from 'node:util';
import { walletAt } from '../load/requests.ts';
import type { Subject } from './subjects.ts';
import { rawTemplatesOf, templatesOf, type Workload } from './workloads.ts';

/** What a measurement is worth: right answers alone count. */

/** A value inside of parsed JSON; undefined where there is none. */
const valueAt = (data: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (value, key) => (value !== null && typeof value === 'object' ? Reflect.get(value, key) : undefined),
    data,
  );

/** Why an answer of GraphQL is wrong; null for a right one. */
export const faultOf = (text: string, { items }: Workload): string | null => {
  const { data, errors } = JSON.parse(text);
  if (errors !== undefined || data === undefined) return `got ${text.slice(0, 500)}`;
  if (items === null) return null;
  const list = valueAt(data, items.path);
  const count = Array.isArray(list) ? list.length : 0;
  return count === items.count ? null : `expected ${items.count} at ${items.path.join('.')}, got ${count}`;
};

const WALLET = `0x${'a'.repeat(39)}1`;

/** The items of one wallet, as a server answers the workload: of each the values that are compared. */
const rowsOf = async ({ server, isRaw }: Subject, workload: Workload) => {
  const [template] = isRaw ? rawTemplatesOf(workload, 'peer') : templatesOf(workload);
  const named = (text = '') => text.replaceAll(walletAt(0), WALLET);
  const response = await fetch(`http://127.0.0.1:${server.port}${named(template?.path)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: named(template?.body),
  });
  const { entries = '', paths = {} } = workload.compared ?? {};
  const list = valueAt(await response.json(), isRaw ? [entries] : ['data', ...(workload.items?.path ?? [])]);
  if (!Array.isArray(list) || list.length === 0)
    throw new Error(`Expected items in the answer to ${workload.name}, got none.`);
  const read = Object.entries(paths).map((names) => names[isRaw ? 1 : 0].split('.'));
  return list.map((item) => read.map((path) => valueAt(item, path) ?? null));
};

/** Throws unless all of them answer the workload with the same items. */
export const assertAgreement = async (subjects: readonly Subject[], workload: Workload): Promise<void> => {
  const answers = subjects.map(async (subject) => ({
    title: subject.title,
    rows: await rowsOf(subject, workload),
  }));
  const [first, ...others] = await Promise.all(answers);
  for (const { title, rows } of others)
    if (!isDeepStrictEqual(rows, first?.rows))
      throw new Error(
        `Expected ${title} to answer ${workload.name} with the data of ${first?.title}, got other data.`,
      );
};
