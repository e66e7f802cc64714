import { builder } from '../graph/builder.ts';
import { WebhookType } from '../webhooks/enums.ts';
import type { DeliveryType, DeliveryFilter as LogFilter } from './log.ts';

export const DeliveryFilter = builder.inputType('DeliveryFilter', {
  description: 'All that is given must match; null is as good as left out.',
  fields: (t) => ({
    webhookIds: t.field({ type: ['UUID'], description: 'Deliveries of one of these webhooks.' }),
    types: t.field({ type: [WebhookType], description: 'Deliveries of one of these types.' }),
    chainIds: t.field({ type: ['ChainId'], description: 'Deliveries of one of these chains.' }),
    address: t.field({
      type: 'Address',
      description: 'Deliveries with at least one event that concerns this address.',
    }),
  }),
});

export const logFilter = (filter: typeof DeliveryFilter.$inferInput | null | undefined): LogFilter => ({
  webhookIds: filter?.webhookIds ?? undefined,
  types: filter?.types?.map((type) => type.toLowerCase() as DeliveryType),
  chainIds: filter?.chainIds ?? undefined,
  address: filter?.address ?? undefined,
});
