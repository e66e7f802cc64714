import { type Fields, hashOf, timeAt, transaction } from '../../../support/upstream/builders.ts';

/** The two lookups whose lists are by time. */
export const LOOKUPS_BY_TIME = [{ name: 'transactions' }, { name: 'activity' }];

const CHAINS = [
  { chain_id: 1, chain: 'ethereum' },
  { chain_id: 8453, chain: 'base' },
  { chain_id: 10, chain: 'optimism' },
] as const;

/** An item of a list by time. `chain` is an index of CHAINS. */
export type Listed = { readonly name: string; readonly time: number; readonly chain: number };

/** An item as both lookups by time list it. */
const rest = ({ name, time, chain }: Listed): Fields => {
  const hash = hashOf(BigInt(`0x${Buffer.from(name).toString('hex')}`));
  const fields = { ...CHAINS[chain], block_time: timeAt(time), tx_hash: hash, type: 'receive' };
  return { ...transaction({ hash }), ...fields };
};

/** The name of an item, from its hash. */
export const nameOf = (key: string | null): string =>
  Buffer.from(BigInt(key ?? '').toString(16), 'hex').toString();

/** A page of either lookup. */
export const envelope = (items: readonly Listed[], nextOffset: string | null): Fields => {
  const fields = { request_time: timeAt(0), response_time: timeAt(0), next_offset: nextOffset };
  const listed = items.map(rest);
  return { transactions: listed, activity: listed.map((item) => ({ ...item, value: '1' })), ...fields };
};
