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

/** Fields that the gateway does not convert: all servers must agree on them. */
const FIELDS = ['hash', 'blockNumber', 'blockTime', 'chain', 'from', 'to', 'data'];

/** The transactions of one wallet, as a server answers W1: of each its fields, and the topics of its logs. */
const rowsOf = async ({ server, isRaw }: Subject, w1: Workload) => {
  const [template] = isRaw ? rawTemplatesOf(w1, 'peer') : templatesOf(w1);
  const named = (text = '') => text.replaceAll(walletAt(0), WALLET);
  const response = await fetch(`http://127.0.0.1:${server.port}${named(template?.path)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: named(template?.body),
  });
  const list = valueAt(await response.json(), isRaw ? ['transactions'] : ['data', ...(w1.items?.path ?? [])]);
  if (!Array.isArray(list) || list.length === 0) throw new Error('Expected transactions, got none.');
  const nameOf = (field: string) =>
    isRaw ? field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : field;
  return list.map((item) => ({
    fields: FIELDS.map((field) => valueAt(item, [nameOf(field)])),
    topics: [valueAt(item, ['logs', 0, 'topics']), valueAt(item, ['logs', 1, 'topics'])],
  }));
};

/** Throws unless all of them answer W1 with the same transactions. */
export const assertAgreement = async (subjects: readonly Subject[], w1: Workload): Promise<void> => {
  const answers = subjects.map(async (subject) => ({
    title: subject.title,
    rows: await rowsOf(subject, w1),
  }));
  const [first, ...others] = await Promise.all(answers);
  for (const { title, rows } of others)
    if (!isDeepStrictEqual(rows, first?.rows))
      throw new Error(`Expected ${title} to answer with the data of ${first?.title}, got other data.`);
};
