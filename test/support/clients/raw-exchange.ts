import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A response as it came over the wire; its headers are sorted. */
export type RawResponse = {
  readonly status: string;
  readonly headers: readonly string[];
  readonly body: string;
};

/** Parts that are sent at once would arrive as one. */
const BETWEEN_PARTS_MS = 3;

/**
 * Sends bytes over a connection of their own, part by part, and resolves with the responses: with `count` of them, or with all that came
 * until the gateway closed the connection.
 */
export const exchange = (
  url: string,
  parts: readonly (string | Uint8Array)[],
  count = 1,
): Promise<readonly RawResponse[]> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const socket = connect({ port: Number(port), host: hostname, noDelay: true }, async () => {
      for (const [index, part] of parts.entries()) {
        if (index > 0) await pause(BETWEEN_PARTS_MS);
        socket.write(part);
      }
    });
    let received = Buffer.alloc(0);
    let responses: readonly RawResponse[] = [];
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      responses = responsesIn(received);
      if (responses.length >= count) socket.destroy();
    });
    socket.on('error', reject).on('close', () => resolve(responses));
  });

const INTERIM = 'HTTP/1.1 100';

/** Returns the whole responses at the beginning of `bytes`. */
const responsesIn = (bytes: Buffer): RawResponse[] => {
  const responses: RawResponse[] = [];
  for (let at = 0; ; ) {
    const bodyAt = bytes.indexOf('\r\n\r\n', at) + 4;
    if (bodyAt < 4) return responses;
    const [status = '', ...headers] = bytes.toString('latin1', at, bodyAt - 4).split('\r\n');
    const end = status.startsWith(INTERIM) ? bodyAt : endOfBody(bytes, bodyAt, headers);
    if (end === null) return responses;
    const body = bytes.toString('utf8', bodyAt, end);
    if (!status.startsWith(INTERIM)) responses.push({ status, headers: headers.toSorted(), body });
    at = end;
  }
};

/** Returns the index after a body; null if it is incomplete. */
const endOfBody = (bytes: Buffer, at: number, headers: readonly string[]): number | null => {
  const length = headers.find((header) => /^content-length:/i.test(header))?.split(': ')[1];
  if (length === undefined) {
    const end = bytes.indexOf('\r\n0\r\n\r\n', at - 2);
    return end === -1 ? null : end + 7;
  }
  const end = at + Number(length);
  return bytes.length < end ? null : end;
};
