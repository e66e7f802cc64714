import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';

/** What a service posts to a webhook's URL. */
export type Delivery = {
  readonly method: string;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
};

/** A server that keeps the deliveries that it gets. */
export type Listener = {
  /** The URL to deliver to. Its path can't be guessed, so that only the service knows it. */
  readonly url: string;
  /** The first delivery that fits, which may come within a time; null when none does. */
  first(fits: (delivery: Delivery) => boolean, withinMs: number): Promise<Delivery | null>;
  close(): Promise<void>;
};

export type ListenerOptions = {
  /** The public address that leads to the port; null when the service is on this machine. */
  readonly publicUrl: string | null;
  /** 0 is a free port. */
  readonly port: number;
};

const MAX_KEPT = 1_000;
const MAX_BYTES = 5 * 1024 * 1024;

const read = async (incoming: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`expected at most ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

/** Listens. Rejects when the port is taken. */
export const openListener = async ({ publicUrl, port }: ListenerOptions): Promise<Listener> => {
  const path = `/${randomBytes(16).toString('hex')}`;
  const kept: Delivery[] = [];
  const waiting = new Set<() => void>();

  const server = createServer(async (incoming, outgoing) => {
    try {
      if (incoming.url?.endsWith(path) !== true) return outgoing.writeHead(404).end();
      const text = await read(incoming);
      const headers = Object.fromEntries(
        Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
      );
      if (kept.length < MAX_KEPT) kept.push({ method: incoming.method ?? '', headers, text });
      outgoing.writeHead(200).end();
      for (const wake of waiting) wake();
    } catch {
      outgoing.destroy();
    }
  });
  // What a public address leads to may come in at any of this machine's own.
  server.listen(port, publicUrl === null ? '127.0.0.1' : undefined);
  await once(server, 'listening');
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;

  return {
    url: `${publicUrl?.replace(/\/+$/, '') ?? `http://127.0.0.1:${bound}`}${path}`,
    async first(fits, withinMs) {
      const ends = performance.now() + withinMs;
      for (;;) {
        const found = kept.find(fits);
        const left = ends - performance.now();
        if (found !== undefined || left <= 0) return found ?? null;
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, left);
        waiting.add(resolve);
        await promise;
        waiting.delete(resolve);
        clearTimeout(timer);
      }
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};
