import { describe, expect, test } from 'vitest';
import { codesOf, heldKey, nowhere, startGateway } from '../support/gateway/start.ts';
import { type Reply, type SeenRequest, startFakeService } from '../support/upstream/fake-service.ts';
import { change, documentOf, readWebhook } from './support/documents.ts';
import { inputOf } from './support/inputs.ts';
import { startManaged } from './support/managed.ts';
import { idOf, restWebhook } from './support/rest.ts';

const { url: _, ...withoutUrl } = inputOf('createWebhook');

const ownUrl = 'query ($webhookId: UUID) { deliveryUrl(webhookId: $webhookId) }';

describe('a new webhook without a url', () => {
  test.each([withoutUrl, { ...withoutUrl, url: null }])(
    'delivers here, and its url names it',
    async (input) => {
      await using managed = await startManaged();
      const { webhook } = await change(managed.gateway, 'createWebhook', input);
      const { webhookId } = webhook;
      const { deliveryUrl } = await managed.gateway.data<{ deliveryUrl: string }>(ownUrl, { webhookId });
      expect(webhook).toMatchObject({ url: deliveryUrl, deliversHere: true, active: true });
      expect(deliveryUrl).toContain(webhookId);
      expect(await managed.state(webhookId)).toMatchObject({ url: deliveryUrl });
    },
  );

  test('delivers here also when its url can not be changed', async () => {
    const other = ({ method, body }: SeenRequest): Reply =>
      method === 'POST' ? { json: restWebhook({ ...JSON.parse(body), id: idOf(1) }) } : { status: 503 };
    await using service = await startFakeService({ other });
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    const { webhook } = await change(gateway, 'createWebhook', withoutUrl);
    const { deliveryUrl } = await gateway.data<{ deliveryUrl: string }>(ownUrl);
    expect(webhook).toMatchObject({ webhookId: idOf(1), url: deliveryUrl, deliversHere: true });
  });

  test('whose creation fails is not created again', async () => {
    await using service = await startFakeService({ other: () => ({ status: 503 }) });
    await using gateway = await startGateway({ UPSTREAM_URL: service.url });
    const reply = await gateway.query(documentOf('createWebhook'), { input: withoutUrl });
    expect(codesOf(reply)).toEqual(['UPSTREAM_UNAVAILABLE']);
    expect(service.requests.map(({ method }) => method)).toEqual(['POST']);
  });
});

test("the sandbox's own webhooks deliver here from the start", async () => {
  await using gateway = await startGateway();
  const { webhooks } = await gateway.data<{ webhooks: { nodes: { deliversHere: boolean }[] } }>(
    '{ webhooks { nodes { deliversHere } } }',
  );
  expect(webhooks.nodes).toEqual([{ deliversHere: true }, { deliversHere: true }, { deliversHere: true }]);
});

test('a given url is stored unchanged, in one request', async () => {
  await using managed = await startManaged();
  const url = 'https://example.org/Hook?a=%20b';
  const { webhook } = await change(managed.gateway, 'createWebhook', { ...withoutUrl, url });
  expect(webhook).toMatchObject({ url, deliversHere: false });
  expect(await managed.state(webhook.webhookId)).toMatchObject({ url });
});

describe('deliversHere', () => {
  const delivers = async (url: string | null): Promise<boolean | undefined> => {
    await using service = await startFakeService({ other: () => ({ json: restWebhook({ url }) }) });
    await using gateway = await startGateway({
      UPSTREAM_URL: service.url,
      PUBLIC_URL: 'https://gateway.example',
      DELIVERY_SECRET: 'a secret of 32 characters or more',
    });
    return (await readWebhook(gateway, idOf(1)))?.deliversHere;
  };
  const here = async (webhookId: string | null): Promise<string> => {
    await using gateway = await startGateway({
      UPSTREAM_URL: nowhere,
      PUBLIC_URL: 'https://gateway.example',
      DELIVERY_SECRET: 'a secret of 32 characters or more',
    });
    return (await gateway.data<{ deliveryUrl: string }>(ownUrl, { webhookId })).deliveryUrl;
  };

  test('is true for the url with and without the id, however it is written', async () => {
    expect(await delivers(await here(idOf(1)))).toBe(true);
    const plain = await here(null);
    expect(await delivers(plain)).toBe(true);
    expect(await delivers(plain.replace('https://gateway.example', 'HTTPS://Gateway.example:443'))).toBe(
      true,
    );
  });

  test('is false for every other url', async () => {
    const plain = await here(null);
    expect(await delivers(await here(idOf(2)))).toBe(false);
    expect(await delivers(plain.slice(0, -1))).toBe(false);
    expect(await delivers(plain.replace('https:', 'http:'))).toBe(false);
    expect(await delivers('https://gateway.example')).toBe(false);
    expect(await delivers('not a url')).toBe(false);
    expect(await delivers(null)).toBe(false);
  });
});

test('when the public url changes between starts, connectWebhook moves webhooks from the old one', async () => {
  const secret = { DELIVERY_SECRET: 'a secret of 32 characters or more' };
  await using managed = await startManaged({ ...secret, PUBLIC_URL: 'https://old.example' });
  const { webhook } = await change(managed.gateway, 'createWebhook', withoutUrl);
  const { webhookId } = webhook;
  expect(webhook).toMatchObject({ deliversHere: true, url: expect.stringMatching('^https://old.example/') });

  await using moved = await startGateway({
    ...secret,
    UPSTREAM_URL: managed.sandbox.url,
    UPSTREAM_API_KEY: heldKey,
    PUBLIC_URL: 'https://new.example/behind/a/proxy',
  });
  expect(await readWebhook(moved, webhookId)).toMatchObject({ deliversHere: false, url: webhook.url });
  const connected = await change(moved, 'connectWebhook', { webhookId });
  const url = expect.stringMatching('^https://new.example/behind/a/proxy/deliveries/');
  expect(connected.webhook).toMatchObject({ deliversHere: true, url });
  expect(await managed.state(webhookId)).toMatchObject({ url: connected.webhook.url });
  expect(await readWebhook(moved, webhookId)).toEqual(connected.webhook);
  expect(await readWebhook(managed.gateway, webhookId)).toMatchObject({ deliversHere: false });
});
