import { readFile } from 'node:fs/promises';

/** Linux's tables of the sockets of this network namespace, one line a socket. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];

/**
 * A socket's line: local address and port, remote address and port, state, and the bytes that its peer has not
 * acknowledged. Sockets are identified by their two ports; those that share both count as one.
 */
const LINE = /:([\dA-F]{4}) [\dA-F]+:([\dA-F]{4}) [\dA-F]{2} ([\dA-F]{8}):/g;

/** The bytes in the operating system's send buffer of each connection, which its peer has not acknowledged. */
export type TcpQueues = { of(localPort: number, remotePort: number): number };

/** Reads the send buffers of all connections. Resolves with null on an operating system other than Linux. */
export const readTcpQueues = async (): Promise<TcpQueues | null> => {
  const tables = await Promise.all(TABLES.map((path) => readFile(path, 'latin1').catch(() => '')));
  if (tables.every((text) => text === '')) return null;
  const bytes = new Map<string, number>();
  for (const text of tables)
    for (const [, local = '', remote = '', queue = ''] of text.matchAll(LINE)) {
      const ports = `${local}${remote}`;
      bytes.set(ports, (bytes.get(ports) ?? 0) + Number.parseInt(queue, 16));
    }
  return { of: (local, remote) => bytes.get(`${hex(local)}${hex(remote)}`) ?? 0 };
};

const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0');
