import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../src/backend/sandbox/sandbox.ts';
import { activity, deliver } from '../support/clients/deliver.ts';
import { folderOf } from '../support/folder.ts';
import { codesOf, type Gateway, heldKey, startGateway } from '../support/gateway/start.ts';
import { bearer, byToken, jwtSecret, tokenOf } from '../support/gateway/tokens.ts';
import { needRedis, startRedis } from '../support/redis/server.ts';

/** The steps of docs/operations.md#rotation, by two gateways on one Redis that are restarted one after the other. */

const ADDRESS = '0x00000000000000000000000000000000000000aa';
const OLD = 'the-old-secret-that-leaked';
const NEW = 'the-new-secret-in-its-place';
const PUBLIC_URL = 'https://gateway.test';

type Webhook = { webhookId: string; url: string; deliversHere: boolean };
type Env = Record<string, string | undefined>;

const WEBHOOKS = '{ webhooks { nodes { webhookId url deliversHere } } }';

/** Two gateways, which `restart` restarts one after the other, and a service whose webhooks are theirs. */
const startInstallation = async (first: Env) => {
  const sandbox = await startSandbox({ apiKey: heldKey, retryBaseMs: 1 });
  onTestFinished(() => sandbox.stop());
  const redis = await startRedis();
  const start = (env: Env) =>
    startGateway({
      UPSTREAM_URL: sandbox.url,
      AUTH: 'open',
      REDIS_URL: redis.url,
      PUBLIC_URL,
      ...env,
    });
  const gateways: Gateway[] = [await start(first), await start(first)];
  onTestFinished(async () => {
    for (const gateway of gateways) await gateway.stop();
  });
  const webhooks = async (headers: Record<string, string> = {}): Promise<Webhook[]> => {
    const { webhooks: found } = await (gateways[0] as Gateway).data<{ webhooks: { nodes: Webhook[] } }>(
      WEBHOOKS,
      {},
      headers,
    );
    // Those of the sandbox have no URL.
    return found.nodes.filter(({ url }) => url !== null);
  };
  let posted = 0;
  /** Posts a delivery to each gateway for each webhook's URL; the statuses. */
  const post = async (urls: readonly string[]): Promise<(number | null)[]> => {
    const to = gateways.flatMap(({ url }) => urls.map((each) => each.replace(PUBLIC_URL, url)));
    return Promise.all(
      to.map((url) => {
        posted += 1;
        return deliver(url, { body: activity(posted, ADDRESS) });
      }),
    );
  };
  return {
    gateways,
    webhooks,
    post,
    redis,
    /** Restarts one gateway after the other, and posts to both in between, as the service does. */
    async restart(env: Env, headers: Record<string, string> = {}) {
      const urls = (await webhooks(headers)).map(({ url }) => url);
      for (const [index, gateway] of gateways.entries()) {
        await gateway.stop();
        gateways[index] = await start(env);
        expect(new Set(await post(urls))).toEqual(new Set([200]));
      }
    },
  };
};

const watch = async ({ gateways: [gateway] }: { readonly gateways: Gateway[] }, headers = {}) => {
  const { watchWallet } = await (gateway as Gateway).data<{ watchWallet: { watchedWallet: object } }>(
    `mutation { watchWallet(input: { address: "${ADDRESS}" }) {
      ... on WatchWalletPayload { watchedWallet { types webhooks { deliversHere } } }
    } }`,
    {},
    headers,
  );
  return watchWallet.watchedWallet;
};

const watched = async ({ gateways: [gateway] }: { readonly gateways: Gateway[] }, headers = {}) => {
  const { watchedWallets } = await (gateway as Gateway).data<{
    watchedWallets: { nodes: { types: string[]; wallet: { address: string } }[] };
  }>('{ watchedWallets { nodes { types wallet { address } } } }', {}, headers);
  return watchedWallets.nodes;
};

const ALL = [{ types: ['TRANSACTIONS', 'ACTIVITIES', 'BALANCES'], wallet: { address: ADDRESS } }];

/** Watches a wallet, takes the steps, and returns the URLs of before; a delivery is taken at each moment. */
const rotate = async (installation: Awaited<ReturnType<typeof startInstallation>>, steps: Env[]) => {
  const { webhooks, post, restart, gateways } = installation;
  await watch(installation);
  const before = (await webhooks()).filter(({ deliversHere }) => deliversHere).map(({ url }) => url);
  expect(before).toHaveLength(3);
  const [addOne = {}, sign = {}, drop = {}] = steps;
  await restart(addOne);
  expect(await watched(installation)).toEqual(ALL);
  await restart(sign);
  // Each webhook still has the URL of before, and counts as one that delivers here.
  expect(await watched(installation)).toEqual(ALL);
  for (const { webhookId } of await webhooks())
    await (gateways[0] as Gateway).data(
      `mutation { connectWebhook(input: { webhookId: "${webhookId}" }) { __typename } }`,
    );
  const after = (await webhooks()).map(({ url }) => url);
  for (const url of before) expect(after).not.toContain(url);
  expect(new Set(await post([...before, ...after]))).toEqual(new Set([200]));
  await restart(drop);
  expect(new Set(await post(before))).toEqual(new Set([404]));
  expect(await watched(installation)).toEqual(ALL);
  return { before, after };
};

describe('without refusing a delivery', () => {
  test('a secret is replaced', async (context) => {
    await needRedis(context);
    const installation = await startInstallation({ DELIVERY_SECRET: OLD });
    await rotate(installation, [
      { DELIVERY_SECRET: `${OLD},${NEW}` },
      { DELIVERY_SECRET: `${NEW},${OLD}` },
      { DELIVERY_SECRET: NEW },
    ]);
  });

  test('a secret that was made at the first start is replaced', async (context) => {
    await needRedis(context);
    const installation = await startInstallation({});
    const kept = await installation.redis.run('GET', 'gateway:secret');
    expect(kept).toHaveLength(43);
    await rotate(installation, [
      { DELIVERY_SECRET: `${kept},${NEW}` },
      { DELIVERY_SECRET: `${NEW},${kept}` },
      { DELIVERY_SECRET: NEW },
    ]);
  });

  test("one tenant's URL is renewed alone", async (context) => {
    await needRedis(context);
    const secret = { DELIVERY_SECRET: OLD };
    const installation = await startInstallation(secret);
    await rotate(installation, [
      { ...secret, DELIVERY_URL_VERSIONS: 'default=1+2' },
      { ...secret, DELIVERY_URL_VERSIONS: 'default=2+1,other=7' },
      { ...secret, DELIVERY_URL_VERSIONS: 'default=2' },
    ]);
  });

  test('watchWallet points the webhooks of a watch at the new URL', async (context) => {
    await needRedis(context);
    const installation = await startInstallation({ DELIVERY_SECRET: OLD });
    await watch(installation);
    const before = (await installation.webhooks()).map(({ url }) => url);
    await installation.restart({ DELIVERY_SECRET: `${NEW},${OLD}` });
    await watch(installation);
    const after = await installation.webhooks();
    expect(after).toHaveLength(before.length);
    const { url } = after.find(({ url }) => !before.includes(url)) ?? {};
    await installation.restart({ DELIVERY_SECRET: NEW });
    expect(await installation.post([url ?? ''])).toEqual([200, 200]);
  });
});

test('with AUTH=key, each key has its log and its cursors after a rotation', async (context) => {
  await needRedis(context);
  const env = { AUTH: 'key', UPSTREAM_API_KEY: undefined };
  const headers = { 'x-service-api-key': heldKey };
  const installation = await startInstallation({ ...env, DELIVERY_SECRET: OLD });
  const [gateway] = installation.gateways;
  const read = '{ deliveryUrl deliveries(first: 1) { pageInfo { endCursor } edges { node { payload } } } }';
  type Read = { deliveryUrl: string; deliveries: { pageInfo: { endCursor: string }; edges: object[] } };
  const { deliveryUrl } = await (gateway as Gateway).data<Read>(read, {}, headers);
  expect(await installation.post([deliveryUrl])).toEqual([200, 200]);
  const before = await (gateway as Gateway).data<Read>(read, {}, headers);
  expect(before.deliveries.edges).toHaveLength(1);
  await watch(installation, headers);
  for (const secret of [`${OLD},${NEW}`, `${NEW},${OLD}`])
    await installation.restart({ ...env, DELIVERY_SECRET: secret }, headers);
  await watch(installation, headers);
  await installation.restart({ ...env, DELIVERY_SECRET: NEW }, headers);
  const after = await (installation.gateways[1] as Gateway).data<Read>(read, {}, headers);
  expect(after.deliveries.edges).toEqual(before.deliveries.edges);
  expect(after.deliveryUrl).not.toBe(before.deliveryUrl);
  // The tenant is the same one.
  expect(after.deliveryUrl.split('/').at(-2)).toBe(before.deliveryUrl.split('/').at(-2));
});

test('DELIVERY_SECRET is written down nowhere before it is replaced', async (context) => {
  await needRedis(context);
  const { redis, post, gateways } = await startInstallation({ DELIVERY_SECRET: OLD });
  const { deliveryUrl } = await (gateways[0] as Gateway).data<{ deliveryUrl: string }>('{ deliveryUrl }');
  expect(await post([deliveryUrl])).toEqual([200, 200]);
  const keys = (await redis.run('KEYS', '*')) as string[];
  const dumps = await Promise.all(keys.map(async (key) => String(await redis.run('DUMP', key))));
  expect(keys).not.toHaveLength(0);
  expect(keys.filter((_key, index) => dumps[index]?.includes(OLD))).toEqual([]);

  await using folder = await folderOf({});
  await using gateway = await startGateway({ DELIVERY_SECRET: OLD, DATA_DIR: folder.path('data') });
  const own = await gateway.data<{ deliveryUrl: string }>('{ deliveryUrl }');
  expect(await deliver(own.deliveryUrl, { body: activity(1, ADDRESS) })).toBe(200);
  const names = await readdir(folder.path('data'));
  const files = await Promise.all(names.map((name) => readFile(folder.path(`data/${name}`), 'latin1')));
  expect(names).toContain('deliveries.db');
  expect(names.filter((_name, index) => files[index]?.includes(OLD))).toEqual([]);
});

test('tokens of both values of JWT_SECRET are accepted, of one that was removed are not', async () => {
  const other = 'the-next-secret-of-the-issuer-0123456789';
  const tokens = [await tokenOf(), await tokenOf({}, { key: new TextEncoder().encode(other) })];
  const codes = async (secret: string) => {
    await using gateway = await startGateway({ ...byToken, JWT_SECRET: secret });
    return Promise.all(
      tokens.map(async (token) => codesOf(await gateway.query('{ deliveryUrl }', {}, bearer(token)))),
    );
  };
  expect(await codes(jwtSecret)).toEqual([[], ['UNAUTHENTICATED']]);
  expect(await codes(`${jwtSecret},${other}`)).toEqual([[], []]);
  expect(await codes(`${other}, ${jwtSecret}`)).toEqual([[], []]);
  expect(await codes(other)).toEqual([['UNAUTHENTICATED'], []]);
});

test.each([
  [
    'DELIVERY_SECRET',
    `${OLD},short`,
    'expected a secret, or two, comma-separated, of at least 16 characters each (a comma always separates two)',
  ],
  ['DELIVERY_SECRET', `${OLD},${OLD}`, 'expected a secret, or two'],
  ['DELIVERY_SECRET', `${OLD},${NEW},${NEW}3`, 'expected a secret, or two'],
  [
    'JWT_SECRET',
    `${jwtSecret},short`,
    'expected a secret, or two, comma-separated, of at least 32 bytes each (a comma always separates two)',
  ],
  ['DELIVERY_URL_VERSIONS', 'default=2+2', 'expected versions of delivery URLs'],
  ['DELIVERY_URL_VERSIONS', 'default=0', 'expected versions of delivery URLs'],
  ['DELIVERY_URL_VERSIONS', 'default', 'expected versions of delivery URLs'],
  ['DELIVERY_URL_VERSIONS', 'a=1,a=2', 'expected versions of delivery URLs'],
])('%s=%s is a named problem, which shows no secret', async (name, value, problem) => {
  const starting = startGateway({ ...byToken, [name]: value });
  await expect(starting).rejects.toThrow(`${name}: ${problem}`);
  if (name.endsWith('SECRET'))
    for (const part of value.split(',')) await expect(starting).rejects.not.toThrow(part);
});
