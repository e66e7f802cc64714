import { walletAt } from './templates.ts';
import { templatesOf, type Workload } from './workloads.ts';

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

/** What all servers must agree on of a transaction: fields that the gateway does not convert. */
type Row = { readonly fields: readonly unknown[]; readonly topics: readonly unknown[] };

const rowOf = (item: unknown, names: readonly string[]): Row => {
  const logs = valueAt(item, ['logs']);
  return {
    fields: names.map((name) => valueAt(item, [name])),
    topics: Array.isArray(logs) ? logs.map((log) => valueAt(log, ['topics'])) : [],
  };
};

const postTo = async (port: number, path: string, body: string): Promise<unknown> => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: body.replaceAll(walletAt(0), WALLET),
  });
  return response.json();
};

const rowsIn = (list: unknown, names: readonly string[]): readonly Row[] => {
  if (!Array.isArray(list) || list.length === 0) throw new Error('Expected transactions, got none.');
  return list.map((item) => rowOf(item, names));
};

/** The transactions of one wallet, as a server of GraphQL answers W1. */
export const rowsOfGraphQL = async (port: number, w1: Workload): Promise<readonly Row[]> => {
  const [template] = templatesOf(w1);
  const reply = await postTo(port, '/graphql', template?.body ?? '');
  return rowsIn(valueAt(reply, ['data', 'wallet', 'transactions', 'nodes']), [
    'hash',
    'blockNumber',
    'blockTime',
    'chain',
    'from',
    'to',
    'data',
  ]);
};

/** The same transactions, as the raw proxy passes them on. */
export const rowsOfUpstream = async (port: number, w1: Workload): Promise<readonly Row[]> => {
  const reply = await postTo(port, w1.raw.peer.replaceAll(walletAt(0), WALLET), '{}');
  return rowsIn(valueAt(reply, ['transactions']), [
    'hash',
    'block_number',
    'block_time',
    'chain',
    'from',
    'to',
    'data',
  ]);
};
