import type { TestContext } from 'vitest';

/** Skips a test that this machine can't run and says why; in CI, where everything must be there, it fails instead. */
export const need = (context: TestContext, available: boolean, what: string): void => {
  if (available) return;
  if (process.env.CI) throw new Error(`CI must have ${what}`);
  context.skip(`needs ${what}`);
};
