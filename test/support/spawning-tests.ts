import { globSync, readFileSync } from 'node:fs';

const SPAWNS =
  /from '(node:child_process|\S+\/gateway\/(process|spawn|supervise|workers)\.ts|\S+\/deploy\/prometheus-server\.ts|\S+\/support\/anvil\.ts|\S+\/soak\/(everyday|soak)\.ts)'/;

/** Lists the test files that start processes other than Redis, most of them the gateway's own. All others are quick. */
export const findSpawningTests = (): string[] =>
  globSync('test/**/*.test.ts', { cwd: new URL('../..', import.meta.url) }).filter((path) =>
    SPAWNS.test(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')),
  );
