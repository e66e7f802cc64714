import { builder } from '../../graph/builder.ts';
import { clientError } from '../../graph/errors.ts';
import { WebhookType } from '../../webhooks/schema/enums.ts';
import type { DeliveryType, DeliveryFilter as LogFilter } from '../log/log.ts';

/** Bounds the memory of a filter, which a subscription keeps while it is open. */
const MAX_ALTERNATIVES = 100;

export const DeliveryFilter = builder.inputType('DeliveryFilter', {
  description:
    'A delivery must match every field that is given. Null is the same as an omitted field. A list matches by any of its values; an empty list matches nothing.',
  fields: (t) => ({
    webhookIds: t.field({
      type: ['UUID'],
      description: `Deliveries of one of these webhooks; at most ${MAX_ALTERNATIVES}.`,
    }),
    types: t.field({
      type: [WebhookType],
      description: `Deliveries of one of these types; at most ${MAX_ALTERNATIVES}.`,
    }),
    chainIds: t.field({
      type: ['ChainId'],
      description: `Deliveries of one of these chains; at most ${MAX_ALTERNATIVES}.`,
    }),
    address: t.field({
      type: 'Address',
      description:
        'Deliveries with at least one event that concerns this address: as a side of a transaction or transfer, the counterparty, the spender or the token contract. Addresses in logs or call data do not count. The service omits the subscribed side of an activity, so that side finds an activity only if Activity.subscribedAddress is known.',
    }),
    addresses: t.field({
      type: ['Address'],
      description: `Deliveries with at least one event that concerns one of these addresses, as for address; at most ${MAX_ALTERNATIVES}.`,
    }),
  }),
});

type FilterInput = typeof DeliveryFilter.$inferInput | null | undefined;

/** Maps the argument to the log's filter. Throws OPERATION_TOO_COMPLEX for a list that is too long. */
export const logFilter = (filter: FilterInput): LogFilter => ({
  webhookIds: alternatives('webhookIds', filter?.webhookIds),
  types: alternatives('types', filter?.types)?.map((type) => type.toLowerCase() as DeliveryType),
  chainIds: alternatives('chainIds', filter?.chainIds),
  addresses: addressLists(filter),
});

const addressLists = (filter: FilterInput): readonly (readonly string[])[] => {
  const addresses = alternatives('addresses', filter?.addresses);
  return [...(filter?.address ? [[filter.address]] : []), ...(addresses ? [[...new Set(addresses)]] : [])];
};

const alternatives = <Value>(name: string, values: readonly Value[] | null | undefined) => {
  if (values && values.length > MAX_ALTERNATIVES)
    throw clientError(
      'OPERATION_TOO_COMPLEX',
      `Expected at most ${MAX_ALTERNATIVES} ${name} in a filter, got ${values.length}.`,
    );
  return values ?? undefined;
};
