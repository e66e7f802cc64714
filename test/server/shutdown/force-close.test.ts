import { expect, test } from 'vitest';
import { CLOSE_TIMEOUT_MS } from '../../../src/server/http/shutdown.ts';
import { deliver, deliveriesOf } from '../../support/clients/deliver.ts';
import { openRawSocket, subscribeMessage } from '../../support/clients/raw-socket.ts';
import { scrape } from '../../support/gateway/prometheus.ts';
import { nowhere, startGateway } from '../../support/gateway/start.ts';
import { bearer, byToken, expiringSoon, tokenOf } from '../../support/gateway/tokens.ts';
import { readersToBe } from '../../support/gateway/wait-for-readers.ts';

test('a client that does not read the final message is cut, on a WebSocket and an event stream', async () => {
  await using gateway = await startGateway(
    { UPSTREAM_URL: nowhere, ...byToken },
    { times: { closeMs: 1000 } },
  );
  const lasting = bearer(await tokenOf());
  const { deliveryUrl, head } = await deliveriesOf(gateway.url, lasting);
  // More than the systems hold for them, and stored before: the rights end soon.
  for (let number = 0; number < 10; number += 1)
    await deliver(deliveryUrl, { body: { number, filler: 'x'.repeat(2_000_000) } });
  const document = `subscription { deliveries(after: "${head}") { node { payload } } }`;
  const expiring = bearer(await tokenOf(expiringSoon()));
  using socket = await openRawSocket(gateway.url, () => {}, expiring);
  socket.write(subscribeMessage(document));
  socket.stall();
  const stream = await fetch(`${gateway.url}/graphql?query=${encodeURIComponent(document)}`, {
    headers: { accept: 'text/event-stream', ...expiring },
  });
  await readersToBe(gateway.url, 2);
  await readersToBe(gateway.url, 0);
  const open = async () => {
    const { sum } = await scrape(gateway.url);
    return [sum('gateway_websockets'), sum('gateway_event_streams')];
  };
  await expect.poll(open).toEqual([0, 0]);
  await expect(stream.text()).rejects.toThrow('terminated');
  socket.resume();
  expect(await socket.closed).toBeNull();
});

test('by default a client has ten seconds to read it', () => {
  expect(CLOSE_TIMEOUT_MS).toBe(10_000);
});
