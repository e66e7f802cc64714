import { createServer } from 'node:http';
import { freePort } from '../../../test/support/free-port.ts';

/** Starts a receiver of traces, which counts requests and keeps nothing of them. */
export const startCollector = async (made: AsyncDisposableStack) => {
  const collector = { url: '', requests: 0 };
  const server = createServer((request, response) => {
    collector.requests += 1;
    request.resume().on('end', () => response.end());
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  made.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  collector.url = `http://127.0.0.1:${port}`;
  return collector;
};
