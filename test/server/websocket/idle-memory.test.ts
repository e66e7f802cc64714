import { expect, test } from 'vitest';
import { openRawSocket, subscribeMessage } from '../../support/clients/raw-socket.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { folderOf } from '../../support/folder.ts';
import { spawnGateway } from '../../support/gateway/spawn.ts';

const SOCKETS = 500;
const AT_ONCE = 50;
const QUERY =
  'subscription ($filter: DeliveryFilter) { deliveries(filter: $filter) { cursor node { id type chainId receivedAt } } }';

const addressOf = (index: number): string => `0x${String(index).padStart(40, '0')}`;

/** The bounds leave room for another release of Node: about 7.5 and 12 KiB were measured in November 2026. */
test.each([
  ['equal subscriptions', 9 * 1024, () => ({})],
  [
    'subscriptions with a filter each',
    16 * 1024,
    (index: number) => ({ filter: { address: addressOf(index) } }),
  ],
])('%s take little of the heap while they are idle', async (_what, mostBytes, variablesOf) => {
  await using folder = await folderOf({});
  const probe = new URL('../../../scripts/bench/probe.ts', import.meta.url).href;
  await using gateway = await spawnGateway({
    UPSTREAM_URL: 'http://127.0.0.1:9',
    UPSTREAM_API_KEY: 'unused',
    DATA_DIR: folder.path('data'),
    NODE_OPTIONS: `--import=${probe}`,
  });
  const collected = () => gateway.lines.filter((line) => line.includes('"collected"'));
  const heapBytes = async (): Promise<number> => {
    const before = collected().length;
    gateway.child.kill('SIGUSR2');
    await eventually(() => collected().length > before);
    return JSON.parse(collected().at(-1) ?? '').heapBytes;
  };
  using sockets = new DisposableStack();
  const subscribe = async (index: number): Promise<void> => {
    const socket = sockets.use(await openRawSocket(gateway.url, () => {}));
    socket.write(subscribeMessage(QUERY, variablesOf(index)));
  };
  const readers = async (): Promise<number> => {
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    return Number(/^gateway_readers (\d+)/m.exec(metrics)?.[1]);
  };
  const subscribeUpTo = async (count: number): Promise<void> => {
    for (let index = await readers(); index < count; index += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, place) => subscribe(index + place)));
    await expect.poll(readers, { timeout: 240_000 }).toBe(count);
  };
  // What the first ones take once, such as compiled code, is not counted.
  await subscribeUpTo(2 * AT_ONCE);
  const before = await heapBytes();
  await subscribeUpTo(2 * AT_ONCE + SOCKETS);
  expect(((await heapBytes()) - before) / SOCKETS).toBeLessThan(mostBytes);
});
