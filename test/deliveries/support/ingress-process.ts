// An ingress in its own process, to be killed: prints its URL once it listens, or the error if it can't open its log.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createDeliveryUrls } from '../../../src/deliveries/ingress/delivery-url.ts';
import { createIngress } from '../../../src/deliveries/ingress/ingress.ts';
import { openSqliteLog } from '../../../src/deliveries/sqlite/log.ts';

const [dataDir = ''] = process.argv.slice(2);
try {
  const log = await openSqliteLog({ dataDir, retentionHours: 1, retentionCount: 1_000_000 });
  const deliveryUrls = createDeliveryUrls('a secret of the test');
  const ingress = createIngress({ log, deliveryUrls });
  const server = createServer((request, response) => {
    void ingress(request, response, request.url?.split('/').slice(2) ?? []);
  });
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`${deliveryUrls.urlOf(`http://127.0.0.1:${port}`, 'default')}\n`);
  });
} catch (error) {
  process.stdout.write(`${String(error)}\n`);
  process.exitCode = 1;
}
