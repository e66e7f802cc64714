import { join } from 'node:path';
import { NO_FILTERS } from '../../../../src/backend/dispatch/webhook.ts';
import { createWebhooks, type WebhooksOptions } from '../../../../src/backend/dispatch/webhooks.ts';
import { inTransaction, openDatabase } from '../../../../src/backend/indexer/database/database.ts';
import { createWebhookStore } from '../../../../src/backend/indexer/database/webhook-store.ts';
import type { Block } from '../../../../src/backend/types.ts';
import { ALICE, block, simulator, transaction } from '../../dispatch/support/builders.ts';

/** A block with one transaction of Alice. Its nonce is the block's number. */
const blockNumbered = (number: number): Block => ({
  ...block([transaction({ nonce: number, blockNumber: number })]),
  number,
});

/** The number of the block that a delivery's body tells of. */
export const numberIn = (body: string): number => Number(JSON.parse(body).transactions[0].nonce);

/** Webhooks with their pending deliveries in a file of a folder, as the service over an index has them. */
export const openWebhooks = (folder: string, options: Partial<WebhooksOptions> = {}) => {
  const database = openDatabase(join(folder, 'index.sqlite'));
  const store = createWebhookStore(database, Date.now);
  const webhooks = createWebhooks({ data: simulator, now: Date.now, store, ...options });
  return {
    database,
    store,
    webhooks,
    /** Creates a webhook for Alice's transactions. */
    subscribe: (url: string): string =>
      store.create({
        type: 'transactions',
        addresses: [ALICE],
        settings: { ...NO_FILTERS, name: 'test', url, active: true },
      }).id,
    /** Adds a block in a transaction, beside what `work` does in it. */
    add: (number: number, work = () => {}): void =>
      inTransaction(database, () => {
        webhooks.handleBlock(blockNumbered(number));
        work();
      }),
    async [Symbol.asyncDispose]() {
      await webhooks.stop();
      database.close();
    },
  };
};
