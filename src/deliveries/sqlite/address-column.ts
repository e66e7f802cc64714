import type { NewDelivery } from '../log/log.ts';

type Addresses = Pick<NewDelivery, 'addresses' | 'subscribedAddress'>;

/** Stands before the subscribed address. No address contains it, so a search within the text finds marked addresses too. */
const MARK = '*';

/** A delivery's addresses as one text, separated by spaces. */
export const writeAddresses = ({ addresses, subscribedAddress }: Addresses): string =>
  addresses.map((address) => (address === subscribedAddress ? MARK + address : address)).join(' ');

/** Reads the text of `writeAddresses`, also without the mark, which earlier releases did not write. */
export const readAddresses = (text: string): Addresses => {
  const words = text === '' ? [] : text.split(' ');
  const at = words.findIndex((word) => word.startsWith(MARK));
  const subscribedAddress = words[at]?.slice(MARK.length) ?? null;
  return {
    addresses: subscribedAddress === null ? words : words.with(at, subscribedAddress),
    subscribedAddress,
  };
};
