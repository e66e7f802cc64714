import { builder } from '../../graph/builder.ts';
import { clientError } from '../../graph/errors.ts';
import { WebhookType } from '../../webhooks/schema/enums.ts';
import type { DeliveryType, DeliveryFilter as LogFilter } from '../log/log.ts';

/** A subscription keeps its filter for as long as it is open. */
const MAX_ALTERNATIVES = 100;

export const DeliveryFilter = builder.inputType('DeliveryFilter', {
  description:
    'A filter of deliveries. A delivery must match all fields that are given; null is the same as omitted. A list matches by any of its values, so an empty list matches nothing.',
  fields: (t) => ({
    webhookIds: t.field({
      type: ['UUID'],
      description: `Only deliveries of one of these webhooks, at most ${MAX_ALTERNATIVES}.`,
    }),
    types: t.field({
      type: [WebhookType],
      description: `Only deliveries of one of these types, at most ${MAX_ALTERNATIVES}.`,
    }),
    chainIds: t.field({
      type: ['ChainId'],
      description: `Only deliveries of one of these chains, at most ${MAX_ALTERNATIVES}.`,
    }),
    address: t.field({
      type: 'Address',
      description:
        'Only deliveries with an event that concerns this address: as a side of the transaction or transfer, the counterparty, the spender or the token contract. Addresses in logs and call data do not count. The service omits the subscribed side of an activity, so that side matches only where `Activity.subscribedAddress` is known.',
    }),
  }),
});

/** Throws OPERATION_TOO_COMPLEX for a list that is too long. */
export const logFilter = (filter: typeof DeliveryFilter.$inferInput | null | undefined): LogFilter => ({
  webhookIds: alternatives('webhookIds', filter?.webhookIds),
  types: alternatives('types', filter?.types)?.map((type) => type.toLowerCase() as DeliveryType),
  chainIds: alternatives('chainIds', filter?.chainIds),
  address: filter?.address ?? undefined,
});

const alternatives = <Value>(name: string, values: readonly Value[] | null | undefined) => {
  if (values && values.length > MAX_ALTERNATIVES)
    throw clientError(
      'OPERATION_TOO_COMPLEX',
      `Expected at most ${MAX_ALTERNATIVES} ${name} in a filter, got ${values.length}.`,
    );
  return values ?? undefined;
};
