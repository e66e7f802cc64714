import { defineConfig } from 'vitest/config';
import { SummaryReporter } from './test/support/summary-reporter.ts';

export default defineConfig({
  // One copy of graphql: vite would otherwise load its ESM and CommonJS builds side by side.
  ssr: { resolve: { conditions: ['node', 'module-sync', 'import', 'default'] } },
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 180_000,
    hookTimeout: 120_000,
    reporters: ['default', new SummaryReporter()],
  },
});
