import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Anvil, startAnvil } from '../../test/backend/indexer/support/anvil.ts';
import { address } from '../../test/backend/indexer/support/blocks.ts';
import { accountsOf, deploy, receiptOf } from '../../test/backend/indexer/support/contracts.ts';
import { type LookupName, type Subjects, untilTold } from '../../test/backend/indexer/support/freshness.ts';
import { API_KEY, spawnIndexed } from '../../test/backend/indexer/support/service.ts';
import { freePort } from '../../test/support/free-port.ts';
import { spawnGateway } from '../../test/support/gateway/spawn.ts';
import type { Gateway } from '../../test/support/gateway/start.ts';
import { decimals, print, Times, tableOf } from '../harness/figures.ts';
import { cpuMsOf } from '../harness/processes.ts';

const LOOKUPS: readonly LookupName[] = [
  ...(['transactions', 'activity', 'balances', 'balance', 'holders', 'market', 'index'] as const),
];
const IDLE_MS = 5_000;
const WATCHED = 100;

/**
 * How long after a block is mined, or is taken back by a revert, each lookup says so: of a gateway that embeds its index, and of
 * one over a service, each as it is shipped. All lookups are asked again and again meanwhile. The same from the node's announcement of
 * blocks in which each of 100 watched wallets gets something. And what it costs to wait for a block.
 */
export const measureFreshness = async (args: readonly string[]): Promise<void> => {
  const { values } = parseArgs({ args: [...args], options: { blocks: { type: 'string', default: '100' } } });
  const blocks = Number(values.blocks);
  if (!(blocks > 0)) throw new Error(`--blocks: expected a number above 0, got ${values.blocks}`);
  await using made = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'bench-fresh-'));
  made.defer(() => rm(folder, { recursive: true, force: true }));
  const anvil = made.use(await startAnvil());
  const [, wallet = '0x'] = await accountsOf(anvil.url);
  const coin = await deploy(anvil.url, 'Coin', ['Fresh Coin', 'FRESH', 18]);
  const art = await deploy(anvil.url, 'Art', ['Art', 'ART']);
  await coin.mine('mint', [wallet, 1n]);
  const subjects: Subjects = { url: anvil.url, wallet, coin, art };

  const service = made.use(await spawnIndexed(anvil.url, join(folder, 'service'), await freePort()));
  const over = { UPSTREAM_URL: service.url, UPSTREAM_API_KEY: API_KEY, AUTH: 'open' };
  const gateways = {
    embedded: made.use(
      await spawnGateway({ CHAINS: `31337=${anvil.url}`, DATA_DIR: join(folder, 'embedded') }),
    ),
    'over a service': made.use(await spawnGateway({ ...over, DATA_DIR: join(folder, 'over') })),
  };
  await sleep(IDLE_MS);

  const rows = [['', 'lookups', 'p50 ms', 'p99 ms', 'max ms']];
  for (const [kind, gateway] of Object.entries(gateways)) {
    const [mined, reverted] = [new Times(), new Times()];
    const told = async (times: Times, hash: string) => {
      for (const ms of (await untilTold(gateway, subjects, hash, LOOKUPS)).values()) times.add(ms);
    };
    for (let block = 0; block < blocks; block += 1) {
      const snapshot = block % 10 === 0 ? await anvil.rpc('evm_snapshot') : null;
      const hash = await coin.send('mint', [wallet, 1n]);
      await receiptOf(anvil.url, hash);
      await told(mined, hash);
      if (snapshot === null) continue;
      const another = await coin.send('mint', [wallet, 1n]);
      await receiptOf(anvil.url, another);
      await told(mined, another);
      const before = await anvil.rpc('evm_revert', snapshot);
      if (before !== true) throw new Error('expected that the node reverts');
      // The last transaction before the snapshot is the wallet's newest one again.
      const { transactions } = (await anvil.rpc('eth_getBlockByNumber', 'latest', false)) as {
        transactions: readonly string[];
      };
      await told(reverted, transactions[0] ?? '');
    }
    for (const [what, times] of Object.entries({ 'a mined block': mined, 'a revert': reverted })) {
      const { count, p50Ms, p99Ms, maxMs } = times.summary();
      rows.push([`${kind}: ${what}`, String(count), ...[p50Ms, p99Ms, maxMs].map((ms) => decimals(ms, 0))]);
    }
  }
  const { count, p50Ms, p99Ms, maxMs } = (
    await busyTimes(gateways.embedded, anvil, subjects, blocks)
  ).summary();
  const busy = [p50Ms, p99Ms, maxMs].map((ms) => decimals(ms, 0));
  rows.push([`embedded: a block of ${WATCHED} watched wallets`, String(count), ...busy]);
  print(tableOf(rows));

  const pids = Object.entries({ ...gateways, 'the service': service }).map(
    ([kind, { child }]) => [kind, child.pid ?? 0] as const,
  );
  const before = pids.map(([, pid]) => cpuMsOf(pid));
  await sleep(IDLE_MS);
  for (const [at, [kind, pid]] of pids.entries())
    print(
      `${kind}: ${decimals((100 * (cpuMsOf(pid) - (before[at] ?? 0))) / IDLE_MS, 1)}% of a core while nothing happens`,
    );
};

/** Watches wallets, and mines blocks that concern all of them. */
const busyTimes = async (
  gateway: Pick<Gateway, 'query'>,
  anvil: Anvil,
  subjects: Subjects,
  blocks: number,
) => {
  const others = Array.from({ length: WATCHED - 1 }, (_, at) => address(`watched ${at}`));
  const wallets = [...others, subjects.wallet];
  const watch = 'mutation ($address: Address!) { watchWallet(input: { address: $address }) { __typename } }';
  for (const wallet of wallets) {
    const { errors } = await gateway.query(watch, { address: wallet });
    if (errors) throw new Error(`expected to watch ${wallet}, got ${JSON.stringify(errors)}`);
  }
  const socket = new WebSocket(anvil.url.replace('http', 'ws'));
  await once(socket, 'open');
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }));
  await once(socket, 'message');
  await anvil.rpc('evm_setAutomine', false);
  const times = new Times();
  for (let block = 0; block < blocks; block += 1) {
    let hash = '';
    for (const wallet of wallets) hash = await subjects.coin.send('mint', [wallet, 1n]);
    const announced = once(socket, 'message');
    const mined = anvil.rpc('evm_mine');
    await announced;
    for (const ms of (await untilTold(gateway, subjects, hash, LOOKUPS)).values()) times.add(ms);
    await mined;
  }
  socket.close();
  return times;
};
