import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { root } from '../pages.ts';
import { PROGRAM } from './spawn.ts';

/** Starts `evm-graphql-gateway log …` as its users do. `ended` resolves, also when it fails; `kill` ends it as a crash does. */
export const startLogCommand = (args: readonly string[], env: Record<string, string> = {}) => {
  const { promise: ended, resolve } = Promise.withResolvers<{
    readonly code: unknown;
    readonly stdout: string;
    readonly stderr: string;
  }>();
  const child = execFile(
    'node_modules/.bin/node',
    [PROGRAM, 'log', ...args],
    { cwd: root, env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env } },
    (error, stdout, stderr) => resolve({ code: error ? (error.code ?? error.signal) : 0, stdout, stderr }),
  );
  const exited = once(child, 'exit');
  return {
    ended,
    async kill(): Promise<void> {
      child.kill('SIGKILL');
      await exited;
    },
  };
};

/** Runs the command to its end. */
export const runLogCommand = (args: readonly string[], env: Record<string, string> = {}) =>
  startLogCommand(args, env).ended;
