import type { DeliveryFilter, NewDelivery } from './log.ts';

/** The terms by which an index finds deliveries: an address is its own term. */
const webhookTerm = (id: string) => `webhook ${id}`;
const typeTerm = (type: string) => `type ${type}`;
const chainTerm = (id: number) => `chain ${id}`;

/** Returns a list of terms for each field of the filter. A delivery matches if it has at least one term of each list. */
export const queryTerms = ({
  addresses = [],
  webhookIds,
  chainIds,
  types,
}: DeliveryFilter): (readonly string[])[] => {
  const lists = [...addresses, webhookIds?.map(webhookTerm), chainIds?.map(chainTerm), types?.map(typeTerm)];
  return lists.filter((list) => list !== undefined);
};

export const isFiltering = (filter: DeliveryFilter): boolean => queryTerms(filter).length > 0;

/** What a filter can ask of a delivery. */
export type Indexed = Pick<NewDelivery, 'webhookId' | 'chainId' | 'addresses'> & {
  readonly type: string | null;
};

/** Returns the terms of a delivery, each once. */
export const termsOf = ({ webhookId, type, chainId, addresses }: Indexed): Set<string> => {
  const terms = new Set(addresses);
  if (webhookId !== null) terms.add(webhookTerm(webhookId));
  if (type !== null) terms.add(typeTerm(type));
  if (chainId !== null) terms.add(chainTerm(chainId));
  return terms;
};

/** Whether the delivery has at least one term of each list of the filter. */
export const matches = (filter: DeliveryFilter, delivery: Indexed): boolean => {
  const terms = termsOf(delivery);
  return queryTerms(filter).every((list) => list.some((term) => terms.has(term)));
};
