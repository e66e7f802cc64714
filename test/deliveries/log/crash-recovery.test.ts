import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { runs } from '../../support/runs.ts';
import { numberOf, openLog, readAll, temporaryDirectory } from '../support/builders.ts';
import { post } from '../support/ingress-server.ts';

const PROGRAM = fileURLToPath(new URL('../support/ingress-process.ts', import.meta.url));
const IN_FLIGHT = 16;
const ROUNDS = runs(12);

/** Starts the process; resolves with it and the first line that it prints. */
const startProcess = async (dataDir: string): Promise<{ process: ChildProcess; line: string }> => {
  const child = spawn(process.execPath, [PROGRAM, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [chunk] = await once(child.stdout, 'data');
  return { process: child, line: String(chunk).trim() };
};

/** Posts bodies from many senders until none is answered any longer; resolves with the bodies that were answered 2xx. */
const postUntilGone = async (
  url: string,
  next: () => number,
  onAnswer: (count: number) => void,
): Promise<number[]> => {
  const answered: number[] = [];
  const send = async () => {
    for (;;) {
      const number = next();
      const response = await post(url, JSON.stringify({ number })).catch(() => null);
      if (response === null) return;
      if (response.ok) answered.push(number);
      onAnswer(answered.length);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, send));
  return answered;
};

test('a delivery that was answered before a kill -9 is stored once, round after round', async () => {
  const dataDir = await temporaryDirectory();
  const answered: number[] = [];
  let sent = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const { process: child, line: url } = await startProcess(dataDir);
    expect(url).toMatch(/^http/);
    const dead = once(child, 'exit');
    const enough = 1 + Math.floor(Math.random() * 120);
    const inRound = await postUntilGone(
      url,
      () => sent++,
      (count) => {
        if (count >= enough) child.kill('SIGKILL');
      },
    );
    await dead;
    expect(inRound.length).toBeGreaterThanOrEqual(enough);
    answered.push(...inRound);
  }

  const log = await openLog({ dataDir, retentionHours: 1 });
  const stored = await readAll(log);
  const times = new Map<number, number>();
  for (const one of stored) times.set(numberOf(one), (times.get(numberOf(one)) ?? 0) + 1);
  expect(answered.filter((number) => times.get(number) !== 1)).toEqual([]);
  expect([...times.values()].filter((count) => count !== 1)).toEqual([]);
  expect(stored.map(({ sequence }) => sequence)).toEqual(stored.map((_, index) => index + 1));
});

test('a second process on the same directory is refused until the first one is killed', async () => {
  const dataDir = await temporaryDirectory();
  const first = await startProcess(dataDir);
  const second = await startProcess(dataDir);
  expect(second.line).toMatch(`${dataDir}/deliveries.lock: the delivery log is in use by another process`);
  await once(second.process, 'exit');
  expect(second.process.exitCode).toBe(1);

  const dead = once(first.process, 'exit');
  first.process.kill('SIGKILL');
  await dead;
  expect((await startProcess(dataDir)).line).toMatch(/^http/);
});
