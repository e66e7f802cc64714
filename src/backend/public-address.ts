import { BlockList, isIP } from 'node:net';

/** Ranges outside of the public unicast internet: https://www.iana.org/assignments/iana-ipv4-special-registry. */
const RESERVED_V4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3';
/**
 * All public addresses are within 2000::/3; these are not, or contain an address of version 4:
 * https://www.iana.org/assignments/iana-ipv6-special-registry.
 */
const RESERVED_V6 = '2001::/23 2001:db8::/32 2002::/16 3fff::/20';

const listOf = (networks: string, family: 'ipv4' | 'ipv6'): BlockList => {
  const list = new BlockList();
  for (const network of networks.split(' ')) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return list;
};

const reservedV4 = listOf(RESERVED_V4, 'ipv4');
const reservedV6 = listOf(RESERVED_V6, 'ipv6');
const unicastV6 = listOf('2000::/3', 'ipv6');

/** Whether an IP address is on the public internet. Addresses of version 6 that contain one of version 4 are not. */
export const isPublicAddress = (address: string): boolean => {
  const version = isIP(address);
  if (version === 4) return !reservedV4.check(address, 'ipv4');
  return version === 6 && unicastV6.check(address, 'ipv6') && !reservedV6.check(address, 'ipv6');
};
