import { BlockList, isIP, SocketAddress } from 'node:net';

/**
 * Returns an IP address in its canonical spelling; null for any other text. An IPv4 address mapped to IPv6, as dual-stack
 * sockets report it, becomes the IPv4 address.
 */
export const parseAddress = (text: string): string | null => {
  const family = isIP(text);
  if (family !== 6) return family === 4 ? text : null;
  // Dual-stack sockets report every IPv4 client like this, and a SocketAddress costs microseconds.
  const [, mapped] = /^::ffff:(\d+\.[\d.]+)$/.exec(text) ?? [];
  if (mapped !== undefined) return mapped;
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  return address.replace(/^::ffff:(?=\d+\.)/, '');
};

/** Whether a text is an IP address, or a network in CIDR notation: `10.0.0.0/8`. */
export const isNetwork = (text: string): boolean => {
  const [address = '', prefix, ...more] = text.split('/');
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  if (bits === 0 || address.includes('%') || more.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
};

/** Returns whether an address, in its canonical spelling, belongs to one of `networks`. */
export const createNetworkCheck = (networks: readonly string[]): ((address: string) => boolean) => {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    if (prefix === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(prefix), familyOf(address));
  }
  return (address) => list.check(address, familyOf(address));
};

const familyOf = (address: string): 'ipv4' | 'ipv6' => (address.includes(':') ? 'ipv6' : 'ipv4');
