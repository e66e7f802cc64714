/** How an address (`0x` and 40 hex digits, lower case) stands in its index: half as long as its text. */
export const keyOf = (address: string): Uint8Array => Buffer.from(address.slice(2), 'hex');

/** Of addresses that are separated by spaces. */
export const keysOf = (addresses: string): Uint8Array[] =>
  addresses === '' ? [] : addresses.split(' ').map(keyOf);
