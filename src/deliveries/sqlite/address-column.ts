import type { NewDelivery } from '../log.ts';

type Addresses = Pick<NewDelivery, 'addresses' | 'subscribedAddress'>;

/** Stands before the subscribed address. No address has it, so that a search for one within the text finds it all the same. */
const MARK = '*';

/** A delivery's addresses as one text, separated by spaces. */
export const writeAddresses = ({ addresses, subscribedAddress }: Addresses): string =>
  addresses.map((address) => (address === subscribedAddress ? MARK + address : address)).join(' ');

/** What `writeAddresses` has written, now or before there was a mark. */
export function readAddresses(text: string): Addresses {
  const words = text === '' ? [] : text.split(' ');
  const at = words.findIndex((word) => word.startsWith(MARK));
  const subscribedAddress = words[at]?.slice(MARK.length) ?? null;
  return {
    addresses: subscribedAddress === null ? words : words.with(at, subscribedAddress),
    subscribedAddress,
  };
}
