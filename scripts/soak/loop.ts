import { openSync, readSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Profiler } from 'node:inspector';
import process from 'node:process';
import type { Wait } from './waits.ts';

/** A turn of an event loop that took long, in milliseconds. */
export type Turn = {
  /** When it ended, by `sharedClockMs`. */
  readonly endMs: number;
  readonly tookMs: number;
  /** For how long the thread ran on a core. */
  readonly ranMs: number;
  /** For how long it could have run, but had no core; 0 where the machine does not say (it is not Linux). */
  readonly noCoreMs: number;
};

/** How often a timer measures. An idle loop takes this long from one measurement to the next. */
const EVERY_MS = 20;
const LONG_MS = 30;

/** Milliseconds of a clock that all processes of a machine share. */
export const sharedClockMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Records the turns of this process's main thread that take 30 ms or more, from now on. */
export const recordTurns = (): readonly Turn[] => {
  const turns: Turn[] = [];
  const readNoCoreMs = openNoCoreMs();
  const measure = () => {
    const { user, system } = process.threadCpuUsage();
    return { endMs: sharedClockMs(), ranMs: (user + system) / 1000, noCoreMs: readNoCoreMs() };
  };
  let last = measure();
  setInterval(() => {
    const now = measure();
    const tookMs = now.endMs - last.endMs - EVERY_MS;
    if (tookMs >= LONG_MS) {
      const [ranMs, noCoreMs] = [now.ranMs - last.ranMs, now.noCoreMs - last.noCoreMs];
      turns.push({ endMs: now.endMs, tookMs, ranMs, noCoreMs });
    }
    last = now;
  }, EVERY_MS).unref();
  return turns;
};

/** Linux says for how long a thread has waited for a core so far: the second number, in nanoseconds. */
const openNoCoreMs = (): (() => number) => {
  try {
    const file = openSync('/proc/self/schedstat', 'r');
    const bytes = Buffer.alloc(80);
    return () => Number(bytes.toString('latin1', 0, readSync(file, bytes, 0, 80, 0)).split(' ')[1]) / 1e6;
  } catch {
    return () => 0;
  }
};

/** How much of what a turn took was of this kind while the wait lasted. */
export const during = ({ ms, endMs }: Wait, turns: readonly Turn[], kind: 'ranMs' | 'noCoreMs'): number =>
  turns.reduce((sum, turn) => {
    const overlap = Math.min(endMs, turn.endMs) - Math.max(endMs - ms, turn.endMs - turn.tookMs);
    return overlap > 0 ? sum + turn[kind] * Math.min(1, overlap / turn.tookMs) : sum;
  }, 0);

/** A turn, and what ran in it. */
export type ExplainedTurn = Turn & { readonly because: string };

const SHOWN = 4;

/**
 * Reads what a process with `loop-probe.ts` has written when it ended: its turns, and the longest of them, by what they took
 * and by what they ran, with their causes.
 */
export const readTurns = async (file: string, sinceMs: number) => {
  const recorded: { turns: Turn[]; profile: Profiler.Profile } = JSON.parse(await readFile(file, 'utf8'));
  const turns = recorded.turns.filter(({ endMs, tookMs }) => endMs - tookMs > sinceMs);
  const causeOf = createCauses(recorded.profile);
  const longestBy = (kind: 'tookMs' | 'ranMs') =>
    turns.toSorted((one, other) => other[kind] - one[kind]).slice(0, SHOWN);
  const longest = [...new Set([...longestBy('ranMs'), ...longestBy('tookMs')])];
  return { turns, longest: longest.map((turn): ExplainedTurn => ({ ...turn, because: causeOf(turn) })) };
};

/** The functions that the profiler saw in a turn. */
const createCauses = ({ nodes, samples = [], timeDeltas = [], startTime }: Profiler.Profile) => {
  const known = new Map(nodes.map((node) => [node.id, node]));
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  let at = startTime;
  const seen = samples.map((id, index) => {
    at += timeDeltas[index] ?? 0;
    return { atMs: at / 1000, id };
  });

  /** The innermost function of the gateway. V8's own work, and what the gateway does not call, go by their own names. */
  const nameOf = (sampled: number): string => {
    const leaf = known.get(sampled)?.callFrame;
    if (leaf === undefined || /^\((?!anonymous)/.test(leaf.functionName)) return leaf?.functionName ?? '';
    for (let id: number | undefined = sampled; id !== undefined; id = callers.get(id)) {
      const { functionName = '', url = '', lineNumber = 0 } = known.get(id)?.callFrame ?? {};
      const file = /^(?!.*node_modules).*\/(src\/.*)$/.exec(url)?.[1];
      if (file !== undefined) return `${functionName || 'a function'} (${file}:${lineNumber + 1})`;
    }
    return `${leaf.functionName} (${/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(leaf.url)?.[1] ?? leaf.url})`;
  };

  /** The three most frequent ones, each with its percentage. A turn that hardly ran says nothing of what ran. */
  return ({ endMs, tookMs, ranMs, noCoreMs }: Turn): string => {
    if (ranMs < LONG_MS && noCoreMs > ranMs) return 'no core';
    const ran = seen.filter(({ atMs }) => atMs > endMs - tookMs && atMs <= endMs);
    return [...Map.groupBy(ran, ({ id }) => nameOf(id))]
      .toSorted(([, one], [, other]) => other.length - one.length)
      .slice(0, 3)
      .map(([name, { length }]) => `${name} ${Math.round((100 * length) / ran.length)} %`)
      .join(', ');
  };
};
