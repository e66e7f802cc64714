import { writeFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Several times what a run takes on a busy machine. */
const MAX_RUN_MS = 45 * 60_000;

/**
 * Prints the closing line of a run, and leaves it where CI finds it. A run that does not end by itself is ended as a
 * failure: its last lines name the files and tests that it still waited for.
 */
export class SummaryReporter implements Reporter {
  readonly #running = new Set<TestModule | TestCase>();
  readonly #states: string[] = [];

  onInit(): void {
    setTimeout(() => this.#endRun(), MAX_RUN_MS).unref();
  }

  onTestModuleStart(module: TestModule): void {
    this.#running.add(module);
  }

  onTestModuleEnd(module: TestModule): void {
    this.#running.delete(module);
  }

  onTestCaseReady(test: TestCase): void {
    this.#running.add(test);
  }

  onTestCaseResult(test: TestCase): void {
    this.#running.delete(test);
    const { state } = test.result();
    this.#states.push(state);
    // A file's failures are printed when it ends, which may be long after.
    if (state === 'failed') process.stdout.write(`failed: ${nameOf(test)}\n`);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const states = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => test.result().state),
    );
    const broken = modules.filter((module) => module.errors().length > 0).length + unhandledErrors.length;
    summarize(states, broken);
  }

  #endRun(): never {
    process.stdout.write(`The run has not ended after ${MAX_RUN_MS / 60_000} minutes. It still runs:\n`);
    for (const running of this.#running) process.stdout.write(`  ${nameOf(running)}\n`);
    summarize(this.#states, this.#running.size);
    process.exit(1);
  }
}

const nameOf = (running: TestModule | TestCase): string =>
  running.type === 'module'
    ? `${running.project.name} ${running.relativeModuleId}`
    : `${nameOf(running.module)} > ${running.fullName}`;

const summarize = (states: readonly string[], broken: number): void => {
  const count = (state: string) => states.filter((each) => each === state).length;
  const skipped = count('skipped');
  const line = `${count('passed')} passed, ${count('failed') + broken} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`;
  writeFileSync(new URL('../../node_modules/.test-summary', import.meta.url), line);
  process.stdout.write(line);
};
