import { expect, test } from 'vitest';
import { block, transaction } from './support/builders.ts';
import { startDelivering, startService } from './support/service.ts';

type Attempt = Readonly<Record<string, unknown>> & { readonly delivery_id: string };

const attemptsOf = (service: { json(method: string, path: string): object }, id: string) =>
  (service.json('GET', `/${id}/attempts`) as { attempts: readonly Attempt[] }).attempts;

const BLOCK = block([transaction()]);

test('every attempt is told with its status, its latency, its body and when the next is due', async () => {
  let status = 500;
  await using service = await startDelivering(() => status, { retries: { firstMs: 3_600_000, factor: 1 } });
  const id = service.create();
  service.webhooks.handleBlock(BLOCK);
  await expect.poll(() => attemptsOf(service, id).length).toBe(1);
  const [failed] = attemptsOf(service, id);
  const [received] = service.receiver.received;
  expect(failed).toMatchObject({
    accepted: false,
    status: 500,
    problem: 'it answered 500',
    retry_index: 0,
    body: received?.body,
    bytes: Buffer.byteLength(received?.body ?? ''),
  });
  expect(Number(failed?.latency_ms)).toBeGreaterThanOrEqual(0);
  expect(Date.parse(String(failed?.next_attempt_at))).toBeGreaterThan(Date.now() + 1_000_000);

  status = 204;
  // However often it is asked for before it is tried, it is sent once.
  for (let count = 0; count < 3; count += 1)
    expect(service.json('POST', `/${id}/resend`, {})).toEqual({ resent: 1 });
  // It does not wait for its retry, and is not sent once more for it.
  await service.webhooks.settled();
  expect(service.receiver.received.map(({ body }) => body)).toEqual([received?.body, received?.body]);
  expect(attemptsOf(service, id)).toMatchObject([
    { delivery_id: failed?.delivery_id, accepted: true, status: 204, problem: null, next_attempt_at: null },
    { delivery_id: failed?.delivery_id, accepted: false },
  ]);
  // Nothing is left that failed, and one that arrived is sent again if it is named.
  expect(service.json('POST', `/${id}/resend`, {})).toEqual({ resent: 0 });
  expect(service.json('POST', `/${id}/resend`, { delivery_ids: [failed?.delivery_id] })).toEqual({
    resent: 1,
  });
  await service.webhooks.settled();
  expect(service.receiver.received).toHaveLength(3);
});

test('a webhook remembers its newest 50 attempts, and nothing once it is deleted or its block is unwound', async () => {
  await using service = await startDelivering();
  const id = service.create();
  for (let number = 1; number <= 60; number += 1) service.webhooks.handleBlock({ ...BLOCK, number });
  await service.webhooks.settled();
  expect(attemptsOf(service, id)).toHaveLength(50);
  service.webhooks.dropBlocks(BLOCK.chain.id, 60);
  expect(attemptsOf(service, id)).toHaveLength(49);
  service.json('DELETE', `/${id}`);
  expect(service.ask('GET', `/${id}/attempts`).status).toBe(404);
});

test('what was never tried is left out, and what is not delivered or is no list is refused', async () => {
  await using service = startService();
  const id = service.create();
  expect(service.json('POST', `/${id}/resend`, { delivery_ids: ['nothing'] })).toEqual({ resent: 0 });
  const refused = (body: unknown) => service.ask('POST', `/${id}/resend`, body);
  expect(refused({ delivery_ids: 'nothing' })).toMatchObject({ status: 422 });
  service.json('PATCH', `/${id}`, { active: false });
  expect(refused({})).toMatchObject({ status: 422, body: expect.stringContaining('not active') });
});
