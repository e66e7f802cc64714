import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import type { Reporter, TestCase, TestModule, TestRunEndReason, Vitest } from 'vitest/node';
import { cpuSeconds } from './cpu-time.ts';

/** Several times what a run takes on a busy machine. */
const MAX_RUN_MS = 45 * 60_000;

/** More failures than this are a defect, and not flakiness. */
const MAX_RERUNS = 20;

/** How many of the files that took most are named. */
const NAMED_FILES = 10;

/**
 * Prints what a run and its most expensive files took, and the closing line, which it leaves where CI finds it. In CI each
 * failed test, and each file with a failed hook, is run once more when the run has ended, alone: if it passes then, it is
 * reported as flaky and counts as passed. A run that does not end by itself is ended as a failure: its last lines name the
 * files and tests that it still waited for.
 */
export class SummaryReporter implements Reporter {
  readonly #running = new Set<TestModule | TestCase>();
  readonly #states: string[] = [];
  #vitest: Vitest | undefined;
  #stopRerun = () => {};

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
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

  async onTestRunEnd(
    modules: readonly TestModule[],
    unhandledErrors: readonly unknown[],
    reason: TestRunEndReason,
  ): Promise<void> {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const broken = modules.filter((module) =>
      [module, ...module.children.allSuites()].some((suite) => suite.errors().length > 0),
    );
    const failed = tests.filter((test) => test.result().state === 'failed' && !broken.includes(test.module));
    const failures = [...broken, ...failed];
    const flaky = new Set<TestModule | TestCase>();
    const rerun = process.env.CI && reason === 'failed' && unhandledErrors.length === 0;
    if (rerun && failures.length > 0 && failures.length <= MAX_RERUNS) {
      for (const failure of failures) {
        this.#running.add(failure);
        if (await this.#passesAlone(failure)) flaky.add(failure);
        this.#running.delete(failure);
      }
      if (flaky.size === failures.length) process.exitCode = 0;
    }
    const stateOf = (test: TestCase) =>
      flaky.has(test) || (flaky.has(test.module) && test.options.mode === 'run')
        ? 'passed'
        : test.result().state;
    process.stdout.write(costOf(modules));
    this.#summarize(
      tests.map(stateOf),
      broken.filter((module) => !flaky.has(module)).length + unhandledErrors.length,
      [...flaky].map(nameOf),
    );
  }

  async #passesAlone(failure: TestModule | TestCase): Promise<boolean> {
    process.stdout.write(`\nOnce more, alone: ${nameOf(failure)}\n`);
    const results = this.#resultFile('.rerun.json');
    rmSync(results, { force: true });
    const file = failure.type === 'module' ? failure : failure.module;
    const child = spawn(
      process.execPath,
      [
        ...[process.argv[1] ?? 'vitest', 'run', file.relativeModuleId],
        ...(failure.type === 'test' ? ['-t', `^${escapePattern(failure.fullName)}$`] : []),
        ...(file.project.name ? ['--project', file.project.name] : []),
        ...['--reporter=default', '--reporter=json', `--outputFile.json=${results}`],
      ],
      { cwd: this.#vitest?.config.root, stdio: 'inherit' },
    );
    this.#stopRerun = () => child.kill('SIGKILL');
    const [code] = await once(child, 'close');
    if (code !== 0) return false;
    // Vitest is also content with a pattern that no test matches.
    const { numPassedTests }: { numPassedTests: number } = JSON.parse(readFileSync(results, 'utf8'));
    return numPassedTests > 0;
  }

  #endRun(): never {
    this.#stopRerun();
    process.stdout.write(`The run has not ended after ${MAX_RUN_MS / 60_000} minutes. It still runs:\n`);
    for (const running of this.#running) process.stdout.write(`  ${nameOf(running)}\n`);
    this.#summarize(this.#states, this.#running.size, []);
    process.exit(1);
  }

  #summarize(states: readonly string[], broken: number, flaky: readonly string[]): void {
    const count = (state: string) => states.filter((each) => each === state).length;
    const skipped = count('skipped');
    const line = `${count('passed')} passed, ${count('failed') + broken} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`;
    const summary = [...flaky.map((name) => `flaky: ${name}\n`), line].join('');
    writeFileSync(this.#resultFile('.test-summary'), summary);
    process.stdout.write(summary);
  }

  #resultFile(name: string): string {
    return join(this.#vitest?.config.root ?? process.cwd(), 'node_modules', name);
  }
}

/** The CPU seconds of the run so far, and the files that took most of them; of wall time where the system tells no more. */
const costOf = (modules: readonly TestModule[]): string => {
  const total = cpuSeconds();
  const secondsOf = (module: TestModule): number => {
    // Of test/support/measure-file.ts.
    const used = module.meta() as { readonly cpuSeconds?: number };
    return total > 0 ? (used.cpuSeconds ?? 0) : module.diagnostic().duration / 1000;
  };
  const files = modules
    .map((module) => ({ name: nameOf(module), seconds: secondsOf(module) }))
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, NAMED_FILES);
  return [
    total > 0 ? `${total.toFixed()} CPU seconds, most of them in` : 'The longest files, in seconds',
    ...files.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)}  ${name}`),
    '',
  ].join('\n');
};

const nameOf = (running: TestModule | TestCase): string =>
  running.type === 'module'
    ? `${running.project.name} ${running.relativeModuleId}`
    : `${nameOf(running.module)} > ${running.fullName}`;

const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
