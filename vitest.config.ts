import { defineConfig } from 'vitest/config';

export default defineConfig({
  // One copy of graphql: vite would otherwise load its ESM and CommonJS builds side by side.
  ssr: { resolve: { conditions: ['node', 'module-sync', 'import', 'default'] } },
  test: {
    include: ['test/**/*.test.ts', 'src/**/*.test.ts'],
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
