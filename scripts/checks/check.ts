import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import process from 'node:process';
import { parseCommandLine } from '../command-line.ts';

/**
 * Runs every check that needs no running gateway, as many at a time as the machine has cores. All of them run even when one
 * fails; then this fails, too.
 */

parseCommandLine('Usage: npm run check', {});

/** What a check prints is read from a pipe, and printed when it ends. */
const isTerminal = process.stdout.isTTY;
const colours = `--colors=${isTerminal ? 'force' : 'off'}`;
/** By default it has four threads, which together take three times as much of the processor. */
const TYPES = ['tsc', '--singleThreaded', '--pretty', String(isTerminal ?? false)] as const;

/** The compiler collects its garbage in threads, too: at Go's default of 100 it takes half as much again of the processor. */
const env = { GOGC: '400', ...process.env };

const CHECKS: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  // The first takes longest.
  ['types', ...TYPES],
  ["the console's types", ...TYPES, '--project', 'src/console'],
  ["the examples' types, as the strictest users check them", ...TYPES, '--project', 'examples'],
  ['format and lint', 'biome', 'ci', colours, '--error-on-warnings', '.'],
  ['directions', 'node', 'scripts/checks/directions.ts'],
  ['unused code', 'knip'],
  ['schema', 'node', 'scripts/checks/schema.ts', '--check'],
  ['tables of the docs', 'node', 'scripts/checks/docs.ts', '--check'],
  ['changes of the schema', 'node', 'scripts/checks/schema-changes.ts'],
  ["the console's operations", 'node', 'scripts/checks/console-operations.ts', '--check'],
  ["the frontends' operations", 'node', 'scripts/checks/frontend-operations.ts', '--check'],
  ['the client package', 'node', 'scripts/checks/client-package.ts', '--check'],
  ['kernel', 'node', 'scripts/checks/kernel.ts', '--check'],
  ['dashboard and alerts', 'node', 'scripts/observability/main.ts', '--check'],
];

/** Runs a program. Resolves to its exit code, and what it has printed. */
const run = (command: string, args: readonly string[]): Promise<readonly [code: number, output: string]> =>
  new Promise((resolve) => {
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    child.on('error', (error) => resolve([1, `${output}${error}\n`]));
    child.on('close', (code) => resolve([code ?? 1, output]));
  });

const failed: string[] = [];
const left = CHECKS.values();
const runInTurn = async (): Promise<void> => {
  for (const [name, command, ...args] of left) {
    const [code, output] = await run(command, args);
    process.stdout.write(`— ${name}\n${output}`);
    if (code !== 0) failed.push(name);
  }
};
await Promise.all(Array.from({ length: availableParallelism() }, runInTurn));
if (failed.length > 0) {
  process.stderr.write(`Failed: ${failed.join(', ')}\n`);
  process.exitCode = 1;
}
