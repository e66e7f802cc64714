import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clientOf } from '../clients/graphql-client.ts';
import { freePort } from '../free-port.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** What `npm start` runs. */
export const SOURCE = join(ROOT, 'src/main.ts');

/** What a package runs: test/support/gateway/build-program.ts builds it once for a run. It starts on half of the CPU. */
export const PROGRAM = process.env.BUILT_PROGRAM ?? SOURCE;

/** Only makes a process start sooner: it reuses what another one has compiled. */
const COMPILE_CACHE = { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };

/** What `npm start` runs: `NAME=value … exec node --flag … src/main.ts`. */
const [assignments = '', command = ''] = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
).scripts.start.split(' exec node ') as string[];
const STARTED_WITH: Record<string, string> = Object.fromEntries(
  assignments.split(' ').map((assignment) => assignment.split('=')),
);
const NODE_FLAGS = command.split(' ').filter((part) => part.startsWith('--'));

/**
 * The gateway as it is shipped, in a process of its own; `env` is all that it gets beside PATH and what
 * `npm start` sets. `under` is a command that runs it as its own process, such as a tracer. Its port stays its own when it is
 * killed: another gateway can take its place.
 */
export const spawnGateway = async (
  env: Record<string, string | undefined>,
  entry = PROGRAM,
  under: readonly string[] = [],
) =>
  spawnProgram([...under, 'node_modules/.bin/node', ...NODE_FLAGS, entry], {
    cwd: ROOT,
    env: {
      ...STARTED_WITH,
      ...COMPILE_CACHE,
      PATH: process.env.PATH ?? '',
      READ_PATH: process.env.READ_PATH,
      HOST: '127.0.0.1',
      PORT: String(await freePort()),
      ...env,
    },
  });

/** Any command that becomes a gateway. Rejects when it ends before it listens. */
export const spawnProgram = async (
  [program = '', ...args]: readonly string[],
  options: Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid'>,
) => {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  const output = { text: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.text += text;
  });
  const url = await listening(child, lines, output);
  return {
    url,
    ...clientOf(url),
    /** JSON lines that it has logged. */
    lines,
    output,
    child,
    /** Sends the signal and resolves to the exit code, null when the signal was its end. */
    async end(signal: NodeJS.Signals): Promise<number | null> {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const exit = once(child, 'exit');
      child.kill(signal);
      return (await exit)[0];
    },
    async [Symbol.asyncDispose]() {
      await this.end('SIGKILL');
    },
  };
};

/** Resolves with the url of the line that says so; rejects with what was said instead. */
const listening = (child: ChildProcess, lines: string[], output: { text: string }): Promise<string> =>
  new Promise((resolve, reject) => {
    let rest = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      output.text += text;
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
      for (const part of parts) {
        const { msg, url } = parse(part);
        if (msg === 'listening' && typeof url === 'string') resolve(url);
      }
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`exited with ${code}: ${output.text}`)));
  });

const parse = (line: string): { msg?: unknown; url?: unknown } => {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
};
