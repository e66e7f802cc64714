import { describe, expect, test } from 'vitest';
import { overWebSocket } from '../../support/clients/transports.ts';
import { codesOf, nowhere, startGateway } from '../../support/gateway/start.ts';
import { freshAddress, history } from '../../support/upstream/builders.ts';
import { startFakeService } from '../../support/upstream/fake-service.ts';
import { servingTransactions } from '../../support/upstream/paging.ts';

const document =
  'query ($address: Address!) { wallet(address: $address) { transactions { nodes { hash } } } }';

const clientKey = 'of-one-client-93be07';

const strict = { accept: 'application/graphql-response+json' };

/** A gateway that holds no key: each client sends its own. */
const keyless = { AUTH: 'key', UPSTREAM_API_KEY: undefined };

describe('with AUTH=key each client sends its own key', () => {
  test('without one it is UNAUTHENTICATED, and nothing is requested', async () => {
    await using fake = await startFakeService();
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...keyless });
    const reply = await gateway.query(document, { address: freshAddress() });
    expect(new Set(codesOf(reply))).toEqual(new Set(['UNAUTHENTICATED']));
    expect(fake.requests).toEqual([]);
  });

  test('without one the status is 401, for clients that get a status', async () => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere, ...keyless });
    for (const headers of [
      {},
      { 'X-Service-Api-Key': 'two words' },
      { authorization: `Bearer ${clientKey}` },
    ]) {
      const reply = await gateway.query('{ __typename }', {}, { ...strict, ...headers });
      expect([reply.status, ...codesOf(reply)]).toEqual([401, 'UNAUTHENTICATED']);
      expect(reply.headers.has('www-authenticate')).toBe(false);
    }
  });

  test.each(['a\nb', 'a\r\nx: y', '\u0000', '\u0661'.repeat(20), '\u{1f600}', 'two words', 'k'.repeat(4097)])(
    'one that no header can carry is refused before anything is sent: %j',
    async (key) => {
      await using fake = await startFakeService();
      await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...keyless });
      const variables = { address: freshAddress() };
      const { errors } = await overWebSocket(
        gateway.url,
        { query: document, variables },
        {
          'X-Service-Api-Key': key,
        },
      );
      expect(codesOf({ errors })).toEqual(['UNAUTHENTICATED']);
      expect(fake.requests).toEqual([]);
    },
  );

  test('with one it goes to the service under the same header', async () => {
    await using fake = await startFakeService({ transactions: servingTransactions(history(3)) });
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...keyless });
    await gateway.data(document, { address: freshAddress() }, { 'X-Service-Api-Key': clientKey });
    expect(fake.requests.map(({ headers }) => headers['x-service-api-key'])).toEqual([clientKey]);
  });

  test('under another header, where the deployment names it differently', async () => {
    await using fake = await startFakeService({ transactions: servingTransactions(history(3)) });
    await using gateway = await startGateway({
      UPSTREAM_URL: fake.url,
      UPSTREAM_API_KEY_HEADER: 'X-Other-Key',
      ...keyless,
    });
    await gateway.data(document, { address: freshAddress() }, { 'X-Other-Key': clientKey });
    expect(fake.requests.map(({ headers }) => headers['x-other-key'])).toEqual([clientKey]);
    expect(fake.requests[0]?.headers['x-service-api-key']).toBeUndefined();
  });

  test.each([
    { status: 401, code: 'UNAUTHENTICATED' },
    { status: 403, code: 'FORBIDDEN' },
  ])("a $status is the client's own affair: $code", async ({ status, code }) => {
    await using fake = await startFakeService({ transactions: () => ({ status, json: { error: 'no' } }) });
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...keyless });
    const reply = await gateway.query(
      document,
      { address: freshAddress() },
      { 'X-Service-Api-Key': clientKey },
    );
    expect(codesOf(reply)).toEqual([code]);
  });

  test("cached pages are separate by key: no client gets a page that another client's key paid for", async () => {
    await using fake = await startFakeService({ transactions: servingTransactions(history(3)) });
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...keyless });
    const address = freshAddress();
    for (const key of ['one-key', 'another-key', 'one-key'])
      await gateway.data(document, { address }, { 'X-Service-Api-Key': key });
    expect(fake.requests.map(({ headers }) => headers['x-service-api-key'])).toEqual([
      'one-key',
      'another-key',
    ]);
  });

  test('the key is in no reply and in no log line, whatever the service says', async () => {
    await using fake = await startFakeService({
      transactions: () => ({ status: 400, json: { error: `key ${clientKey} is odd` } }),
    });
    await using gateway = await startGateway({ UPSTREAM_URL: fake.url, ...keyless });
    const headers = { 'X-Service-Api-Key': clientKey };
    const reply = await gateway.query(document, { address: freshAddress() }, headers);
    expect(codesOf(reply)).toEqual(['UPSTREAM_REJECTED']);
    expect(reply.body).not.toContain(clientKey);
    expect(JSON.stringify([...reply.headers])).not.toContain(clientKey);
    await gateway.stop();
    expect(gateway.logLines.join('')).not.toContain(clientKey);
  });
});

test('with AUTH=open a key that a client sends is not passed on', async () => {
  await using fake = await startFakeService({ transactions: servingTransactions(history(3)) });
  await using gateway = await startGateway({ UPSTREAM_URL: fake.url });
  await gateway.data(document, { address: freshAddress() }, { 'X-Service-Api-Key': clientKey });
  expect(fake.requests.map(({ headers }) => headers['x-service-api-key'])).not.toContain(clientKey);
});
