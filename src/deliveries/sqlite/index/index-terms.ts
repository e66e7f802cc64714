import type { DeliveryFilter, DeliveryType } from '../../log/log.ts';
import { readAddresses } from '../address-column.ts';
import type { Row } from '../read/row.ts';

/** What a delivery can be found by. */
export type Indexed = {
  readonly webhookId: string | null;
  readonly type: string | null;
  readonly chainId: number | null;
  /** See `writeAddresses`. */
  readonly addresses: string;
};

export const indexedOf = ({ webhook, type, chain, addresses }: Row): Indexed => ({
  webhookId: webhook === null ? null : String(webhook),
  type: type === null ? null : String(type),
  chainId: chain === null ? null : Number(chain),
  addresses: String(addresses),
});

/** How many terms it has at most: its webhook, type and chain, and its addresses. */
export const mostTermsOf = (addresses: string): number => 3 + Math.ceil(addresses.length / ADDRESS_LENGTH);

const ADDRESS_LENGTH = '0x '.length + 40;

const webhookTerm = (id: string) => `webhook ${id}`;
const typeTerm = (type: DeliveryType | string) => `type ${type}`;
const chainTerm = (id: number) => `chain ${id}`;

/** The words under which the index has a delivery, each once. An address stands for itself. */
export const termsOf = ({ webhookId, type, chainId, addresses }: Indexed): Set<string> => {
  const terms = new Set(readAddresses(addresses).addresses);
  if (webhookId !== null) terms.add(webhookTerm(webhookId));
  if (type !== null) terms.add(typeTerm(type));
  if (chainId !== null) terms.add(chainTerm(chainId));
  return terms;
};

/** A delivery matches that has a term of each of these lists. */
export const queryTerms = ({ address, webhookIds, chainIds, types }: DeliveryFilter): string[][] => {
  const lists = [
    address && [address],
    webhookIds?.map(webhookTerm),
    chainIds?.map(chainTerm),
    types?.map(typeTerm),
  ];
  return lists.filter((list) => Array.isArray(list));
};
