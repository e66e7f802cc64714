import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { spawnGateway } from '../../test/support/gateway/spawn.ts';
import { removeFolder } from '../../test/support/redis/server.ts';
import { decimals, median, print, tableOf } from '../harness/figures.ts';
import { measureCpu, startHelper } from '../harness/processes.ts';
import type { Question } from './churn-load.ts';

const ROUNDS = 3;
const QUERY = 'subscription { deliveries { cursor } }';
/** Longer than a server takes to write a line. */
const SAID_MS = 500;

type Turns = { readonly longestMs: number; readonly mostCpuMs: number };
type Round = Turns & { readonly cpuMs: number };

/**
 * What subscribers cost who come, subscribe over WebSocket and go a second later: CPU of all threads for each of them, and
 * the turns of the event loop, which everyone else waits for. A bare `ws` server takes turns with the gateway in one run.
 */
export const measureChurn = async (args: readonly string[]): Promise<void> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      'per-second': { type: 'string', default: '1000' },
      seconds: { type: 'string', default: '5' },
    },
  });
  const [perSecond, seconds] = [Number(values['per-second']), Number(values.seconds)];
  if (!(perSecond > 0 && seconds > 0))
    throw new Error(
      `Expected numbers above 0, got --per-second ${values['per-second']} and --seconds ${values.seconds}`,
    );
  await using made = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'bench-churn-'));
  made.defer(() => removeFolder(folder));
  const NODE_OPTIONS = `--import=${new URL('churn-probe.ts', import.meta.url).href}`;
  const service = { UPSTREAM_URL: 'http://127.0.0.1:9', UPSTREAM_API_KEY: 'unused', DATA_DIR: folder };
  const servers = [
    { name: 'gateway', ...made.use(await spawnGateway({ NODE_OPTIONS, ...service })) },
    { name: 'bare ws', ...made.use(await spawnGateway({ NODE_OPTIONS }, 'scripts/bench/fanout-bare.ts')) },
  ].map((server) => ({ ...server, rounds: [] as Round[] }));
  using load = startHelper(new URL('churn-load.ts', import.meta.url));

  /** What a server says of its turns since it was last asked. */
  const turnsOf = async ({ child, lines }: (typeof servers)[number]): Promise<Turns> => {
    child.kill('SIGUSR2');
    await pause(SAID_MS);
    return JSON.parse(lines.findLast((line) => line.includes('"msg":"turns"')) ?? '{}');
  };
  // The first round is for V8's compiler.
  for (let round = -1; round < ROUNDS; round += 1)
    for (const server of servers) {
      const { url, child, rounds } = server;
      await turnsOf(server);
      const question: Question = { url, query: QUERY, perSecond, seconds };
      const { answer, cpuMs } = await measureCpu([child.pid ?? 0], () => load.ask<number>(question));
      if (round >= 0) rounds.push({ ...(await turnsOf(server)), cpuMs: (cpuMs[0] ?? 0) / answer });
    }
  print(`${perSecond} subscribers a second, each for a second; medians of ${ROUNDS} rounds of ${seconds} s:`);
  print(
    tableOf([
      ['server', 'CPU ms each', 'most CPU of a turn, ms', 'longest turn, ms'],
      ...servers.map(({ name, rounds }) => [
        name,
        decimals(median(rounds.map(({ cpuMs }) => cpuMs))),
        decimals(median(rounds.map(({ mostCpuMs }) => mostCpuMs)), 1),
        decimals(median(rounds.map(({ longestMs }) => longestMs)), 1),
      ]),
    ]),
  );
};
