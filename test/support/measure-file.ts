import { afterAll, TestRunner } from 'vitest';
import { cpuSeconds } from './cpu-time.ts';

/** Vitest imports this before each file, so that the summary can say which files take most. Its hook is the last to run. */
const { file } = TestRunner.getCurrentSuite();
const before = cpuSeconds();

afterAll(() => {
  Object.assign(file.meta, { cpuSeconds: cpuSeconds() - before });
});
