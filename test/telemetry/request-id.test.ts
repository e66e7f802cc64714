import { expect, test } from 'vitest';
import { nowhere, startGateway } from '../support/gateway/start.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

test.each(['a b', 'é', 'x'.repeat(129), '"}', '', '<script>'])(
  'an invalid request id is replaced: %j',
  async (id) => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
    const { headers } = await gateway.query('{ __typename }', {}, { 'x-request-id': id });
    expect(headers.get('x-request-id')).toMatch(UUID);
  },
);

test('every answer carries an id, whatever was asked', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  for (const path of ['/health/live', '/metrics', '/nothing', '/deliveries/a/b', '/graphql']) {
    const { headers } = await fetch(`${gateway.url}${path}`, { headers: { 'x-request-id': 'mine' } });
    expect([path, headers.get('x-request-id')]).toEqual([path, 'mine']);
  }
});
