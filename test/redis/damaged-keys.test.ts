import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { hashTerm } from '../../src/deliveries/redis/search.ts';
import { activity, deliver, deliveriesOf } from '../support/clients/deliver.ts';
import { numberOf } from '../support/gateway/on-redis.ts';
import { codesOf, type Gateway, nowhere, startGateway } from '../support/gateway/start.ts';
import { bearer, byToken, tokenOf } from '../support/gateway/tokens.ts';
import { launchRedis, needRedis, type RedisServer, startRedis } from '../support/redis/server.ts';

/** A tenant's log lies under several keys. One that is lost, or of another type, is no lie and no refusal for ever. */

const COUNT = 40;
const RARE = '0x00000000000000000000000000000000000000dd';
const isRare = (number: number) => number % 10 === 0;

type Damage = 'DEL' | 'another type';
type Tenant = Awaited<ReturnType<typeof openTenant>>;

const openTenant = async (gateway: Gateway, name: string) => {
  const headers = bearer(await tokenOf({ sub: name }));
  const { deliveryUrl } = await deliveriesOf(gateway.url, headers);
  const read = (args: string) =>
    gateway.query<{
      deliveries: { edges: { cursor: string; node: { payload: unknown } }[] } | null;
    }>(`{ deliveries(first: 100${args}) { edges { cursor node { payload } } } }`, {}, headers);
  return {
    prefix: `gateway:{${name}}:`,
    post: (number: number) =>
      deliver(deliveryUrl, { body: activity(number, isRare(number) ? RARE : undefined) }),
    read,
    numbers: async (args = '') => {
      const reply = await read(args);
      const { data } = reply;
      return data?.deliveries?.edges.map(({ node }) => numberOf({ node })) ?? codesOf(reply);
    },
  };
};

const numbersTo = (count: number) => Array.from({ length: count }, (_, number) => number);

const sorted = (found: readonly (number | string)[]) =>
  found.toSorted((one, other) => Number(one) - Number(other));

const damageOf = async (redis: RedisServer, key: string, how: Damage) => {
  expect(await redis.run('EXISTS', key)).toBe(1);
  const type = await redis.run('TYPE', key);
  await redis.run('DEL', key);
  if (how === 'another type')
    await (type === 'string' ? redis.run('RPUSH', key, 'other') : redis.run('SET', key, 'other'));
};

const linesOf = ({ logLines }: Gateway, tenant: string) =>
  logLines.map((line) => JSON.parse(line)).filter((line) => line.tenant === tenant);

let redis: RedisServer;
let gateway: Gateway;

beforeAll(async () => {
  try {
    redis = await launchRedis();
    gateway = await startGateway({ UPSTREAM_URL: nowhere, ...byToken, REDIS_URL: redis.url });
  } catch {
    // `needRedis` says why each test is skipped.
  }
});
afterAll(async () => {
  await gateway?.stop();
  await redis?.stop();
});

/** What the keys of a tenant are, and what becomes of its deliveries and cursors when one is lost. */
const KEYS = [
  { name: 'stream', keeps: false, expires: true, lines: 1 },
  { name: 'state', keeps: true, expires: true, lines: 1 },
  { name: 'identity', keeps: true, expires: false, lines: 0 },
  { name: `index:0:${hashTerm(RARE).bucket}`, keeps: true, expires: false, lines: 1 },
  { name: 'index:0:marks', keeps: true, expires: false, lines: 0 },
] as const;

const CASES = KEYS.flatMap((key) =>
  (['DEL', 'another type'] as const).flatMap((how) =>
    (['a read', 'a delivery'] as const).map((first) => ({ ...key, how, first })),
  ),
);

const open = async ({ name, how, first }: (typeof CASES)[number]): Promise<Tenant & { id: string }> => {
  const id = `${name} ${how} ${first}`.replaceAll(/\W/g, '-');
  const tenant = await openTenant(gateway, id);
  for (const number of numbersTo(COUNT)) expect(await tenant.post(number)).toBe(200);
  return { ...tenant, id };
};

test.for(CASES)('$name after $how, and $first comes first', async (one, context) => {
  await needRedis(context);
  const tenant = await open(one);
  const { data } = await tenant.read('');
  const cursor = data?.deliveries?.edges[4]?.cursor ?? '';
  const found = String(await redis.run('KEYS', `${tenant.prefix}${one.name}*`)).split(',')[0] ?? '';
  await damageOf(redis, found, one.how);

  const before = one.keeps ? numbersTo(COUNT) : [];
  // Never an empty answer that looks like the truth: what is gone is said to be gone.
  if (one.first === 'a read') expect(await tenant.numbers()).toEqual(before);
  expect(await tenant.post(COUNT)).toBe(200);
  const after = [...before, COUNT];
  expect(await tenant.numbers()).toEqual(after);
  expect(await tenant.numbers(`, filter: { addresses: ["${RARE}"] }`)).toEqual(after.filter(isRare));
  expect(await tenant.numbers(`, after: "${cursor}"`)).toEqual(
    one.expires ? ['CURSOR_EXPIRED'] : after.slice(5),
  );
  // Deliveries that the service repeats are stored again where they were lost, and only there.
  expect(await tenant.post(one.name === 'identity' ? COUNT : 3)).toBe(200);
  expect(sorted(await tenant.numbers())).toEqual(sorted(one.keeps ? after : [...after, 3]));
  expect(linesOf(gateway, tenant.id)).toHaveLength(one.lines);
});

test('an entry that something else has added to a stream is removed, and what gateways have written stays', async (context) => {
  await needRedis(context);
  const tenant = await openTenant(gateway, 'foreign');
  for (const number of [0, 1, 2]) expect(await tenant.post(number)).toBe(200);
  const { data } = await tenant.read('');
  const cursor = data?.deliveries?.edges[0]?.cursor ?? '';
  await redis.run('XADD', `${tenant.prefix}stream`, '*', 'x', 'y');
  expect(await tenant.post(3)).toBe(200);
  expect(await tenant.numbers(`, after: "${cursor}"`)).toEqual([1, 2, 3]);
  expect(linesOf(gateway, 'foreign')).toHaveLength(1);
});

test('a stream that is lost beside a foreign head far beyond it is mended at once', async (context) => {
  await needRedis(context);
  const tenant = await openTenant(gateway, 'far-head');
  for (const number of [0, 1]) expect(await tenant.post(number)).toBe(200);
  await redis.run('HSET', `${tenant.prefix}state`, 'head', '2000000000');
  await redis.run('DEL', `${tenant.prefix}stream`);
  // A script that drops the index of so many deliveries would hold Redis for longer than a gateway waits for it.
  expect(await tenant.post(2)).toBe(200);
  expect(await tenant.numbers()).toEqual([2]);
});

test('with the stream and the floor lost, the index of earlier segments goes as well', async (context) => {
  await needRedis(context);
  const tenant = await openTenant(gateway, 'earlier-segments');
  expect(await tenant.post(0)).toBe(200);
  await redis.run('HSET', `${tenant.prefix}state`, 'head', '20000');
  await redis.run('HDEL', `${tenant.prefix}state`, 'floor');
  await redis.run('DEL', `${tenant.prefix}stream`);
  expect(await redis.run('EXISTS', `${tenant.prefix}index:0:marks`)).toBe(1);
  expect(await tenant.post(1)).toBe(200);
  expect(await tenant.numbers()).toEqual([1]);
  expect(await redis.run('EXISTS', `${tenant.prefix}index:0:marks`)).toBe(0);
});

test('the log of one tenant that is malformed, or refused, stops the retention of no other, is named once, and is trimmed in the end', async (context) => {
  await needRedis(context);
  const own = await startRedis();
  const startOn = async (env: Record<string, string>) => {
    const started = await startGateway({ UPSTREAM_URL: nowhere, ...byToken, REDIS_URL: own.url, ...env });
    onTestFinished(() => started.stop());
    return started;
  };
  const first = await startOn({});
  const [malformed, refused, whole] = [
    await openTenant(first, 'a-malformed'),
    await openTenant(first, 'a-refused'),
    await openTenant(first, 'b-whole'),
  ];
  for (const number of [0, 1, 2]) expect(await whole.post(number)).toBe(200);
  for (const number of [0, 1]) expect(await malformed.post(number)).toBe(200);
  await own.run('DEL', `${malformed.prefix}stream`);
  for (const id of ['1-0', '2-0']) await own.run('XADD', `${malformed.prefix}stream`, id, 'x', 'y');
  for (const number of [0, 1, 2]) expect(await refused.post(number)).toBe(200);
  const allow = (...keys: string[]) => own.run('ACL', 'SETUSER', 'default', 'resetkeys', ...keys);
  await allow('~gateway:[^{]*', `~${malformed.prefix}*`, `~${whole.prefix}*`);
  const trimming = await startOn({ DELIVERY_RETENTION_COUNT: '2' });

  await vi.waitFor(async () => expect(await whole.numbers()).toEqual([1, 2]), 60_000);
  // What was not stored by a gateway is dropped by the count as well.
  const later = await openTenant(trimming, 'a-malformed');
  for (const number of [2, 3]) expect(await later.post(number)).toBe(200);
  await vi.waitFor(async () => expect(await later.numbers()).toEqual([2, 3]), 60_000);
  const others = await openTenant(trimming, 'b-whole');
  for (const number of [3, 4]) expect(await others.post(number)).toBe(200);
  await vi.waitFor(async () => expect(await others.numbers()).toEqual([3, 4]), 60_000);
  const failures = trimming.logLines.filter((line) => line.includes('retention failed'));
  expect(failures).toEqual([expect.stringContaining('of tenant a-refused (NOPERM')]);

  await allow('~*');
  await vi.waitFor(async () => expect(await refused.numbers()).toEqual([1, 2]), 60_000);
});
