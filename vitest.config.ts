import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { findSpawningTests } from './test/support/spawning-tests.ts';
import { SummaryReporter } from './test/support/summary-reporter.ts';
import { keepTemporaryFilesInMemory } from './test/support/temporary-files.ts';
import { WaitingFirst } from './test/support/waiting-first.ts';

// Each worker, and each process of a test, loads the whole gateway: they share what one of them has compiled.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.compile-cache', import.meta.url));

keepTemporaryFilesInMemory();

// Compilers and Prometheus: with a thread for each core they take up to three times as much of the cores, which tests use.
process.env.GOMAXPROCS ??= '1';
process.env.GOGC ??= '400';

const spawning = findSpawningTests();

/** Tests of our own tools, and of what a release is made of: `npm run test:release`. All others hold promises to users. */
const release = [
  'cli/package',
  'docs/commands',
  'graph/schema/schema-changes',
  'lookups/adding-a-lookup',
  'scripts/**/*',
  'telemetry/{night-questions,prometheus}',
].map((files) => `test/${files}.test.ts`);

const built = { globalSetup: 'test/support/gateway/build-program.ts' };

export default defineConfig({
  test: {
    pool: 'forks',
    // More than twice the two cores that a run can count on: many tests wait.
    maxWorkers: 5,
    sequence: { sequencer: WaitingFirst },
    // A worker loads the gateway once for all of its files, and not anew for each.
    isolate: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // What must happen happens late on a busy machine.
    expect: { poll: { timeout: 120_000 } },
    // Node loads the tests and the gateway itself, as `npm start` does, and no module is mocked.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    reporters: ['default', new SummaryReporter()],
    setupFiles: 'test/support/measure-file.ts',
    // The first by name run first: those that take longest.
    projects: [
      { extends: true, test: { name: 'processes', include: spawning, exclude: release, ...built } },
      {
        extends: true,
        test: { name: 'quick', include: ['test/**/*.test.ts'], exclude: [...spawning, ...release] },
      },
      { extends: true, test: { name: 'release', include: release, ...built } },
    ],
  },
});
