import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../pages.ts';
import { PROGRAM } from './spawn.ts';

type Ended = { readonly code: unknown; readonly stdout: string; readonly stderr: string };

/** Runs the gateway's program until it ends. `env` is all that it gets beside Node's cache. */
export const run = (args: readonly string[], env: Record<string, string> = {}, cwd = root): Promise<Ended> =>
  new Promise((resolve) => {
    const node = join(root, 'node_modules/.bin/node');
    const options = { cwd, env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env } };
    execFile(node, [PROGRAM, ...args], options, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
