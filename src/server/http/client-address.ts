import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, SocketAddress } from 'node:net';
import type { Log } from '../../lib/log.ts';
import { rememberLast } from '../../lib/memo.ts';

/** Returns the IP address of a request's client, in its canonical spelling; `unknown` once its connection is closed. */
export type ClientAddress = (request: IncomingMessage) => string;

type Options = {
  /** Addresses and networks of the proxies in front of the gateway. */
  readonly trustedProxies: readonly string[];
  /** Whether clients are identified by their address, so that those behind one unknown proxy count as one. */
  readonly identifies: boolean;
  readonly log: Log;
};

/**
 * A client's address is that of its connection, unless this is a trusted proxy's: each proxy appends the address that it
 * was asked from to `X-Forwarded-For` or `Forwarded`, so the client's is the last one there that is not a trusted proxy's.
 * What is left of it was sent by the client itself, and is not read. An entry that is not an address ends the search: the
 * client is then the proxy that wrote it. So it is with a request that has both headers and names two clients: a proxy writes
 * one of them, and passes on what its client sent in the other.
 *
 * Without trusted proxies, the first such header is a warning.
 */
export const createClientAddress = ({ trustedProxies, identifies, log }: Options): ClientAddress => {
  const isTrusted = createNetworkCheck(trustedProxies);
  let warns = identifies && trustedProxies.length === 0;

  /** `hops` are the addresses from the nearest on, null for an entry that is not an address. */
  const lastUntrusted = (peer: string, hops: Iterable<string | null>): string => {
    let client = peer;
    for (const hop of hops) {
      if (hop === null) return client;
      client = hop;
      if (!isTrusted(client)) return client;
    }
    return client;
  };

  return ({ socket, headers }) => {
    const peer = parsePeer(socket.remoteAddress ?? '') ?? 'unknown';
    const { 'x-forwarded-for': list, forwarded } = headers;
    if (list === undefined && forwarded === undefined) return peer;
    if (warns) {
      warns = false;
      log.warn(UNKNOWN_PROXY, { proxy: peer });
    }
    if (trustedProxies.length === 0 || peer === 'unknown' || !isTrusted(peer)) return peer;
    const clients = new Set<string>();
    if (list !== undefined) clients.add(lastUntrusted(peer, listedHops(String(list))));
    if (forwarded !== undefined) clients.add(lastUntrusted(peer, forwardedHops(forwarded)));
    const [client = peer, ...others] = clients;
    return others.length === 0 ? client : peer;
  };
};

const UNKNOWN_PROXY =
  'a request was forwarded by a proxy that TRUSTED_PROXIES does not name: all its clients count as one';

/** The addresses of an X-Forwarded-For, the last one first. */
function* listedHops(list: string): Iterable<string | null> {
  for (const entry of list.split(',').reverse()) yield addressIn(entry.trim());
}

/** The addresses of a Forwarded (RFC 7239), the last one first. */
function* forwardedHops(forwarded: string): Iterable<string | null> {
  // Read from the end: a quote that a client has left open would swallow what its proxy appends.
  for (let end = forwarded.length; end >= 0; ) {
    let start = end;
    for (let quoted = false; start > 0 && (quoted || forwarded[start - 1] !== ','); start -= 1)
      if (forwarded[start - 1] === '"') quoted = !quoted;
    yield forIn(forwarded.slice(start, end));
    end = start - 1;
  }
}

/** One parameter of an element of Forwarded, and what separates it from the next. */
const PARAMETER = /[\t ]*([\w!#$%&'*+.^`|~-]+)=(?:"([^"\\]*)"|([^\t ",;=]*))[\t ]*(?:;|$)/y;

/** The address of the parameter `for`; null when there is not one, or the element is malformed. */
const forIn = (element: string): string | null => {
  const found: string[] = [];
  const pattern = new RegExp(PARAMETER);
  while (pattern.lastIndex < element.length) {
    const [match, name, quoted, token = ''] = pattern.exec(element) ?? [];
    if (match === undefined) return null;
    if (name?.toLowerCase() === 'for') found.push(quoted ?? token);
  }
  return found.length === 1 ? addressIn(found[0] ?? '') : null;
};

/** An address as proxies write it: an IPv6 address may be in brackets, and a port may follow. */
const addressIn = (node: string): string | null => {
  const [, inBrackets, ipv4] = /^(?:\[([^\]]*)\]|(\d[\d.]*))(?::\d{1,5})?$/.exec(node) ?? [];
  return parseAddress(inBrackets ?? ipv4 ?? node);
};

/**
 * Returns an IP address in its canonical spelling; null for any other text. An IPv4 address mapped to IPv6, as dual-stack
 * sockets report it, becomes the IPv4 address.
 */
const parseAddress = (text: string): string | null => {
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

/** Most requests come from the same peer as the one before: a proxy. */
const parsePeer = rememberLast(parseAddress);

/** Returns whether an address, in its canonical spelling, belongs to one of `networks`. */
const createNetworkCheck = (networks: readonly string[]): ((address: string) => boolean) => {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    if (prefix === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(prefix), familyOf(address));
  }
  return (address) => list.check(address, familyOf(address));
};

const familyOf = (address: string): 'ipv4' | 'ipv6' => (address.includes(':') ? 'ipv6' : 'ipv4');
