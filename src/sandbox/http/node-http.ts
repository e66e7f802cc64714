import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { SandboxRequest, SandboxResponse } from './route.ts';

/** Long enough for a replacement of 100,000 addresses. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** Reads a request; null when its body is too long. The rest of such a body is discarded. */
export const readRequest = async (incoming: IncomingMessage): Promise<SandboxRequest | null> => {
  const body = await readBody(incoming);
  if (body === null) return null;
  const [path = '/', ...query] = (incoming.url ?? '/').split('?');
  const method = incoming.method ?? 'GET';
  return { method, path, query: new URLSearchParams(query.join('?')), body };
};

const readBody = async (incoming: IncomingMessage): Promise<string | null> => {
  const chunks: Buffer[] = [];
  let size = 0;
  // The socket stays open after a body that is too long, for the answer that says so.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) {
      incoming.resume();
      return null;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

/** Sends an answer. With `cut`, sends only the first half of its body and then breaks the connection. */
export const send = (outgoing: ServerResponse, answer: SandboxResponse, cut = false): void => {
  const body = Buffer.from(answer.body ?? '');
  const { computeUnits = 0 } = answer;
  outgoing.writeHead(answer.status, {
    ...answer.headers,
    ...(answer.status !== 204 && { 'content-length': body.length }),
    'x-compute-units-cost': computeUnits,
  });
  if (!cut) outgoing.end(body);
  else outgoing.write(body.subarray(0, Math.floor(body.length / 2)), () => outgoing.destroy());
};

/** Listens, and resolves with the url. Rejects when the port is taken or the host is not this machine's. */
export const listen = (server: Server, host: string, port: number): Promise<string> => {
  // Longer than clients keep idle connections, so that none is closed under a request.
  server.keepAliveTimeout = 65_000;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      resolve(`http://${host.includes(':') ? `[${host}]` : host}:${bound}`);
    });
  });
};
