import type { NewDelivery } from '../log/log.ts';
import { packBatch } from './batch.ts';
import { entryOf } from './entry.ts';
import { CHECK_CHANNEL, CHECK_KEYS, SEED } from './keys.ts';
import { APPEND, READ, TRIM } from './lua/scripts.ts';
import type { Store } from './store.ts';

const DELIVERY: NewDelivery = {
  tenant: '',
  webhookId: null,
  type: 'activities',
  chainId: null,
  receivedAt: 0,
  dispatchedAt: null,
  attempt: null,
  body: Buffer.from('{"activities":[]}'),
  addresses: [],
  subscribedAddress: null,
};

const EPOCH = Buffer.alloc(8);

/**
 * Runs the scripts by which deliveries are stored, read and dropped, on keys of their own, and reads what all tenants
 * need. Any number of gateways may do so at the same time. Rejects with LogUnavailableError when Redis fails or refuses one
 * of them, or too few replicas have the delivery.
 */
export const checkStore = async (store: Store): Promise<void> => {
  const { prefix, entries } = CHECK_KEYS;
  const batch = packBatch([await entryOf(DELIVERY)]);
  await store.write(APPEND, entries, [prefix, CHECK_CHANNEL, '', EPOCH, batch, '', '']);
  await store.run(READ, entries, ['', '', 'newest', '1', '1024', prefix, '']);
  await store.run(TRIM, entries, [prefix, '0', '0', '0', '16']);
  await store.get(SEED);
};
