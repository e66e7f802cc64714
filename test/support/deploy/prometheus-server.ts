import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, type TestContext, vi } from 'vitest';
import { need } from '../available.ts';
import { findProgram, PROMETHEUS } from '../debian-program.ts';
import { freePort } from '../free-port.ts';
import { root } from '../pages.ts';

const found = findProgram(PROMETHEUS);

/** Skips the test where there is no real Prometheus with its promtool, and says why; in CI it fails. */
export const needPrometheus = async (context: TestContext): Promise<void> => {
  const program = await found;
  need(context, typeof program !== 'string', `prometheus, Debian's package of it and promtool (${program})`);
};

const programs = async () => {
  const program = await found;
  if (typeof program === 'string') throw new Error(program);
  return { ...program, promtool: program.path.replace(/prometheus$/, 'promtool') };
};

/** promtool with these arguments, and with `input` on stdin. */
export const promtool = async (args: readonly string[], input = '') => {
  const { promtool: path, env } = await programs();
  const child = spawn(path, args, { env, cwd: root, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(input);
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code: code as number | null, output: stdout + stderr };
};

type Sample = {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
};

type Rule = { readonly name: string; readonly health: string; readonly lastError?: string };

/**
 * Prometheus with the project's rules and configuration, but that it scrapes this gateway alone, and each second. It goes
 * when the test is finished.
 */
export const startPrometheus = async (gatewayUrl: string) => {
  const { path, env } = await programs();
  const folder = await mkdtemp(join(tmpdir(), 'prometheus-test-'));
  const config = await readFile(join(root, 'deploy/prometheus/prometheus.yaml'), 'utf8');
  await writeFile(
    join(folder, 'prometheus.yaml'),
    config
      .replaceAll(/interval: \w+/g, 'interval: 1s')
      .replace(/targets: .*/, `targets: ["${new URL(gatewayUrl).host}"]`)
      .replace('alerts.yaml', join(root, 'deploy/prometheus/alerts.yaml')),
  );
  const port = await freePort();
  const child = spawn(
    path,
    [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { env, stdio: 'ignore' },
  );
  const exit = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exit;
    await rm(folder, { recursive: true });
  });

  const get = async <Data>(route: string, parameters: Readonly<Record<string, string>>): Promise<Data> => {
    const response = await fetch(
      `http://127.0.0.1:${port}/api/v1/${route}?${new URLSearchParams(parameters)}`,
    );
    const { status, data, error } = await response.json();
    if (status !== 'success') throw new Error(`${parameters.query ?? route}: ${error}`);
    return data;
  };
  /** Rejects when Prometheus does not accept the expression. */
  const query = async (expression: string): Promise<readonly Sample[]> =>
    (await get<{ result: readonly Sample[] }>('query', { query: expression })).result;

  return {
    query,
    /** Waits until it has scraped the gateway so often. */
    scraped: (times: number) =>
      vi.waitFor(async () => {
        const [sample] = await query('sum_over_time(up[10m])');
        expect(Number(sample?.value[1])).toBeGreaterThanOrEqual(times);
      }, 120_000),
    /** All rules, once each has been evaluated. */
    evaluatedRules: () =>
      vi.waitFor(async () => {
        const { groups } = await get<{ groups: readonly { readonly rules: readonly Rule[] }[] }>('rules', {});
        const rules = groups.flatMap((group) => group.rules);
        expect(rules.length).toBeGreaterThan(0);
        expect(rules.filter(({ health }) => health === 'unknown')).toEqual([]);
        return rules;
      }, 120_000),
  };
};
