import { spawn } from 'node:child_process';
import process from 'node:process';
import { parseCommandLine } from '../command-line.ts';

/** Runs every check that needs no running gateway, all of them even when one fails, and fails when any does. */

parseCommandLine('Usage: npm run check', {});

/** Biome does not look whether its output is a terminal. */
const colours = `--colors=${process.stdout.isTTY ? 'force' : 'off'}`;

const CHECKS: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ['format and lint', 'biome', 'ci', colours, '--error-on-warnings', '.'],
  ['types', 'tsc'],
  ["the console's types", 'tsc', '--project', 'src/console'],
  ['directions', 'node', 'scripts/checks/directions.ts'],
  ['unused code', 'knip'],
  ['schema', 'node', 'scripts/checks/schema.ts', '--check'],
  ["the console's operations", 'node', 'scripts/checks/console-operations.ts', '--check'],
  ["the frontends' operations", 'node', 'scripts/checks/frontend-operations.ts', '--check'],
  ['kernel', 'node', 'scripts/checks/kernel.ts', '--check'],
  ['dashboard and alerts', 'node', 'scripts/observability/main.ts', '--check'],
];

const run = (command: string, args: readonly string[]): Promise<number> =>
  new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'inherit' });
    child.on('error', () => resolve(1));
    child.on('close', (code) => resolve(code ?? 1));
  });

const failed: string[] = [];
for (const [name, command, ...args] of CHECKS) {
  process.stdout.write(`— ${name}\n`);
  if ((await run(command, args)) !== 0) failed.push(name);
}
if (failed.length > 0) {
  process.stderr.write(`Failed: ${failed.join(', ')}\n`);
  process.exitCode = 1;
}
