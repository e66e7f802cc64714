import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { freePort } from '../../../support/free-port.ts';
import { rpc } from './contracts.ts';

/** The program itself: the script around it would leave it running when the script is killed. */
const program = (): string => {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const fromPackage = createRequire(import.meta.resolve('@foundry-rs/anvil/package.json'));
  return fromPackage.resolve(`@foundry-rs/anvil-${process.platform}-${arch}/bin/anvil`);
};

type Options = {
  /** Such as `['--chain-id', '1']`. Default: chain 31337, which makes a block for each transaction. */
  readonly args?: readonly string[];
};

export type Anvil = Awaited<ReturnType<typeof startAnvil>>;

/** An anvil on a port of its own, which it keeps over restarts. It goes with its folder when it is disposed of. */
export const startAnvil = async ({ args = [] }: Options = {}) => {
  const folder = await mkdtemp(join(tmpdir(), 'anvil-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const state = join(folder, 'state.json');
  let child: ChildProcess | null = null;
  /** The time of the genesis block, in seconds. Two chains of one second would be the same. */
  let time = Math.floor(Date.now() / 1000) - 60;

  const start = async (): Promise<void> => {
    const genesis = ['--timestamp', String(time), '--state', state, '--preserve-historical-states'];
    const started = spawn(program(), ['--port', String(port), ...genesis, ...args], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = started;
    let output = '';
    await new Promise<void>((resolve, reject) => {
      const read = (text: unknown) => {
        output += String(text);
        if (output.includes('Listening on')) resolve();
      };
      started.stdout.on('data', read);
      started.stderr.on('data', read);
      started.once('error', reject);
      started.once('exit', (code) => reject(new Error(`anvil exited with ${code}: ${output}`)));
    });
  };

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill(signal);
    await exit;
  };

  await start();
  return {
    url,
    port,
    /** Calls a method of the node. */
    rpc: (method: string, ...params: readonly unknown[]) => rpc(url, method, ...params),
    /** Makes blocks without transactions. */
    mine: (count = 1) => rpc(url, 'anvil_mine', `0x${count.toString(16)}`),
    head: async () => Number(await rpc(url, 'eth_blockNumber')),
    start,
    /** Ends it. `start` goes on with its chain. */
    stop: () => end('SIGTERM'),
    /** Ends it with its chain. `start` begins another one, of the same id. */
    async kill(): Promise<void> {
      await end('SIGKILL');
      await rm(state, { force: true });
      time += 1;
    },
    async [Symbol.asyncDispose]() {
      await end('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
};
