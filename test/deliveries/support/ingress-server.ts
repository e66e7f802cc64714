import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { createDeliveryUrls, type DeliveryUrls } from '../../../src/deliveries/ingress/delivery-url.ts';
import { createIngress, type IngressParts } from '../../../src/deliveries/ingress/ingress.ts';
import type { DeliveryLog } from '../../../src/deliveries/log/log.ts';
import { writeHeaderBlock } from '../../../src/server/http/exchange.ts';
import { openLog, TENANT } from './builders.ts';

export type IngressServer = {
  readonly log: DeliveryLog;
  readonly deliveryUrls: DeliveryUrls;
  readonly port: number;
  /** The tenant's delivery URL. */
  readonly url: string;
  /** Answers a request as one that came over the socket. */
  answer(request: IncomingMessage, response: ServerResponse): void;
};

/** An ingress behind a real socket; closed when the test is finished. */
export const startIngress = async (
  parts: Partial<IngressParts & Pick<IngressServer, 'log'>> = {},
): Promise<IngressServer> => {
  const log = parts.log ?? (await openLog());
  const deliveryUrls = createDeliveryUrls('a secret of the test');
  const ingress = createIngress({
    now: () => 1_000_000,
    // No body times out on a busy machine.
    limits: { timeoutMs: 120_000 },
    writeHead: writeHeaderBlock,
    ...parts,
    log,
    deliveryUrls,
  });
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const path = request.url?.split('?')[0] ?? '';
    void ingress(request, response, path.split('/').slice(2));
  };
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { log, deliveryUrls, port, answer, url: deliveryUrls.urlOf(`http://127.0.0.1:${port}`, TENANT) };
};

export const post = (url: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body: typeof body === 'string' ? body : Buffer.from(body), headers });

/** The parts of an answer that a client sees. */
export const seen = async (response: Response) => ({
  status: response.status,
  body: await response.text(),
  type: response.headers.get('content-type'),
});
