import type { Variables } from '../../support/gateway/start.ts';
import { addressOf } from '../../support/upstream/builders.ts';
import type { Mutation } from './documents.ts';

/** An id that no service has. */
export const UNKNOWN_ID = '0190aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee';

const ADDRESS = addressOf(0xad);

/** A valid input. Default: for a webhook that does not exist. */
export const inputOf = (mutation: Mutation, webhookId = UNKNOWN_ID): Variables => {
  switch (mutation) {
    case 'createWebhook':
      return { name: 'new', type: 'TRANSACTIONS', url: 'https://example.org/hook', addresses: [ADDRESS] };
    case 'updateWebhook':
      return { webhookId, name: 'changed' };
    case 'updateWebhookAddresses':
      return { webhookId, addAddresses: [ADDRESS] };
    case 'replaceWebhookAddresses':
      return { webhookId, addresses: [ADDRESS] };
    case 'deleteWebhook':
    case 'connectWebhook':
    case 'sendTestEvent':
    case 'resendDeliveries':
      return { webhookId };
  }
};
