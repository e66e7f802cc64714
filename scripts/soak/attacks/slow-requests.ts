import { deliveriesOf } from '../../../test/support/clients/deliver.ts';
import { attack, drip, head, json, send, upgrade } from '../../../test/support/clients/raw-http.ts';
import { credentialsOf, type Family } from '../family.ts';

/** Requests that come a byte at a time, or only by half; each ends when the gateway cuts it. */
export const slowRequests: Family = {
  name: 'slow requests',
  atOnce: 60,
  pauseMs: 200,
  async prepare(gatewayUrl) {
    const { deliveryUrl } = await deliveriesOf(gatewayUrl, await credentialsOf('slow'));
    const { pathname } = new URL(deliveryUrl);
    const ways = [
      drip('POST /graphql HTTP/1.1\r\nx: '),
      drip(json('content-length: 1000')),
      drip(json('transfer-encoding: chunked')),
      drip(head(`POST ${pathname}`, 'content-length: 4000000')),
      drip(upgrade().slice(0, -2)),
      send(json('content-length: 1000000'), '{"query":'),
      send(head(`POST ${pathname}`, 'content-length: 1000'), '{'),
      send(upgrade()),
    ];
    return async (number) => {
      const way = ways[number % ways.length];
      const said = way ? await attack(gatewayUrl, way) : '';
      return /^HTTP\/1.1 (\d+)/.exec(said)?.[1] ?? 'cut';
    };
  },
};
