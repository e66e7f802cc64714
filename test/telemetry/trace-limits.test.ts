import { TracerProvider } from '@opentelemetry/sdk-trace';
import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { createDeliverySpans } from '../../src/telemetry/spans.ts';
import { Spans } from '../../src/telemetry/tracer.ts';
import { activity, deliver, deliveriesOf } from '../support/clients/deliver.ts';
import { listenToEvents } from '../support/clients/event-stream.ts';
import { listenTo, message, type RawSocket, subscribeMessage } from '../support/clients/raw-socket.ts';
import { eventually } from '../support/clients/subscribe.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { startOtlpReceiver } from '../support/observability/otlp-receiver.ts';
import { freshAddress } from '../support/upstream/builders.ts';
import type { Reply } from '../support/upstream/fake-service.ts';
import { startFakeWallets } from '../support/upstream/wallets.ts';

/** What clients choose, leave or do not record has no more of a trace than docs/traces.md says. */

test('the name of an operation is cut to 100 characters', async () => {
  await using receiver = await startOtlpReceiver();
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, ...receiver.env });
  const name = 'n'.repeat(5000);
  await gateway.data(`query ${name} { __typename }`);
  const [operation] = await receiver.named('query');
  expect(operation?.attributes['graphql.operation.name']).toBe(name.slice(0, 100));
});

test.each([
  ['completes it', ({ write }: RawSocket) => write(message({ id: '1', type: 'complete' }))],
  ['closes its WebSocket', ({ socket }: RawSocket) => socket.destroy()],
])('an operation ends when its client %s', async (_how, leave) => {
  await using fake = await startFakeWallets();
  await using receiver = await startOtlpReceiver();
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...receiver.env });
  const address = freshAddress();
  const held = Promise.withResolvers<Reply>();
  fake.transactions.set(address, () => held.promise);
  using client = await listenTo(gateway);
  client.write(subscribeMessage(`{ wallet(address: "${address}") { transactions { nodes { hash } } } }`));
  await eventually(() => fake.requestsFor(address).length === 1);
  leave(client);
  const [operation] = await receiver.named('query');
  expect(operation).toMatchObject({ status: 0, attributes: { 'gateway.client.disconnected': true } });
  const [request] = await receiver.named('WEBSOCKET /graphql');
  expect(operation?.parentSpanId).toBe(request?.spanId);
  expect(request?.attributes['gateway.client.disconnected']).toBe(true);
  held.resolve({ status: 500, text: 'too late' });
});

test('an event is not linked to a subscription that is not recorded', async () => {
  await using receiver = await startOtlpReceiver();
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere, ...receiver.env });
  const { deliveryUrl } = await deliveriesOf(gateway.url);
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00';
  using stream = await listenToEvents(gateway.url, 'subscription { deliveries { cursor } }', { traceparent });
  expect(await deliver(deliveryUrl, { body: activity(1) })).toBe(200);
  await eventually(() => stream.text().includes('event: next'));
  const [append] = await receiver.named('delivery log append');
  const [event] = await receiver.named('event');
  expect(event?.links).toEqual([append?.spanId]);
});

test('the appends of the newest 10,000 deliveries are remembered, for the links of their events', () => {
  const links: number[] = [];
  const provider = new TracerProvider({
    spanProcessors: [
      {
        onStart: (span) => void (span.name === 'event' && links.push(span.links.length)),
        onEnd() {},
        forceFlush: async () => {},
        shutdown: async () => {},
      },
    ],
  });
  const { log, events } = createDeliverySpans(
    new Spans({ tracer: provider.getTracer('test'), propagates: true }),
    () => ({}),
  );
  const request = { requestId: '1', traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };
  const results = Array.from({ length: 10_001 }, (_, sequence) => ({
    cursor: String(sequence),
    sequence,
    duplicate: false,
  }));
  const trace = log.appending?.(request) ?? null;
  expect(trace).not.toBeNull();
  const counts = { stored: results.length, duplicates: 0, storedBytes: 0, durationMs: 0 };
  log.appended?.({ ...counts, results, trace });
  const document = parse('subscription { deliveries { cursor } }');
  for (const cursor of ['0', '1', '10000'])
    events.executing?.({ cursor, name: null, document, trace: request });
  expect(links).toEqual([1, 2, 2]);
});
