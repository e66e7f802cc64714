import type { Tallies } from './attackers.ts';
import { ATTACKS } from './attacks/registry.ts';
import type { Checked } from './log-check.ts';
import { during, type ExplainedTurn, type Turn } from './loop.ts';
import { MOST_WAIT_MS, type Wait, type WaitSummary } from './waits.ts';

/** What a soak has shown. */
export type Report = {
  readonly seconds: number;
  /** How the gateway ended before its time; null when it did not. */
  readonly died: string | null;
  /** Resident memory of the gateway; 0 where the machine does not say. */
  readonly mostMemoryMb: number;
  readonly lastMemoryMb: number;
  readonly waits: Readonly<Record<string, WaitSummary>>;
  readonly walks: { readonly whole: number; readonly wrong: readonly string[] };
  /** Of each tenant. */
  readonly deliveries: readonly Checked[];
  /** What the lookups cost that the service was sent, and what the gateway has counted for them; null when it died. */
  readonly computeUnits: { readonly sent: number; readonly counted: number } | null;
  /** Requests to the service that no gateway should make. */
  readonly stray: readonly string[];
  /** The long turns of the event loops that a request waits for, by process. */
  readonly turns: Readonly<Record<string, readonly Turn[]>>;
  /** Those of the gateway that took and ran the longest. */
  readonly longestTurns: readonly ExplainedTurn[];
  /** How many connections the readers have had in all. */
  readonly connections?: number;
  readonly stopped?: { readonly exitCode: number | null; readonly ms: number };
  readonly attacks: Tallies;
};

/** What the gateway may take of memory. */
const MOST_MEMORY_MB = 1024;
const MOST_STOP_MS = 10_000;
/** Honest requests that may be refused, of all of a kind. */
const MOST_REFUSED = 0.01;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

const total = ({ deliveries }: Report, what: 'acknowledged' | 'lost' | 'twice'): number =>
  sum(deliveries.map((checked) => checked[what]));

const refusals = ({ refused }: WaitSummary): number => sum(Object.values(refused));

/** What was lost, sent twice, sent in another order, not counted, or not held: none on any machine. */
export const mistakesOf = (report: Report): string[] => {
  const { died, walks, deliveries, computeUnits, stray, attacks } = report;
  const [lost, twice] = [total(report, 'lost'), total(report, 'twice')];
  return [
    ...(died === null ? [] : [`the gateway ended by itself: ${died}`]),
    ...(lost > 0 ? [`${lost} acknowledged deliveries are not in the log`] : []),
    ...(twice > 0 ? [`${twice} deliveries are in the log twice`] : []),
    ...deliveries.flatMap(({ wrong }) => wrong),
    ...walks.wrong.map((walk) => `a walk went wrong: ${walk}`),
    ...(walks.whole === 0 ? ['no walk came to its end'] : []),
    ...(computeUnits !== null && computeUnits.counted < computeUnits.sent
      ? [`${computeUnits.counted} compute units were counted for requests of ${computeUnits.sent}`]
      : []),
    ...stray.map((request) => `the service was sent ${request}`),
    ...ATTACKS.flatMap(({ name, holds, ends }) =>
      Object.entries(attacks[name] ?? {})
        .filter(([end]) => !ends.test(end))
        .map(([end, count]) => `${name}: expected that ${holds}, got ${end} × ${count}`),
    ),
  ];
};

/** For how long one of the processes at most had no core while the wait lasted. */
const noCoreMs = ({ turns }: Report, wait: Wait): number =>
  Math.max(0, ...Object.values(turns).map((all) => during(wait, all, 'noCoreMs')));

/** Of each kind of request, how many waited for too long by this judgement, and the longest of them. */
const tooLong = (report: Report, judge: (judgedMs: number) => boolean): string[] =>
  Object.entries(report.waits).flatMap(([kind, waits]) => {
    const all = waits.tooLong.filter((wait) => judge(wait.ms - noCoreMs(report, wait)));
    const [longest] = all.toSorted((one, other) => other.ms - one.ms);
    if (longest === undefined) return [];
    const parts = Object.entries(report.turns).map(([process, turns]) => {
      const [ran, noCore] = [during(longest, turns, 'ranMs'), during(longest, turns, 'noCoreMs')];
      return `the ${process} ran for ${ms(ran)} and had no core for ${ms(noCore)}`;
    });
    return [`${kind}: ${all.length} waited for up to ${[ms(longest.ms), ...parts].join('; ')}`];
  });

/** Waits that were too long because the machine gave a process no core: a quieter machine can judge them. */
export const unjudgedOf = (report: Report): string[] =>
  tooLong(report, (judgedMs) => judgedMs <= MOST_WAIT_MS);

/** What took too long, or too much memory, or was refused. */
export const excessesOf = (report: Report): string[] => {
  const { waits, mostMemoryMb, stopped } = report;
  return [
    ...tooLong(report, (judgedMs) => judgedMs > MOST_WAIT_MS),
    ...Object.entries(waits)
      .filter(([, wait]) => refusals(wait) > wait.done * MOST_REFUSED)
      .map(([kind, wait]) => `${kind}: ${refusals(wait)} of ${wait.done} were refused`),
    ...(mostMemoryMb >= MOST_MEMORY_MB ? [`memory came to ${Math.round(mostMemoryMb)} MB`] : []),
    ...(stopped && (stopped.exitCode !== 0 || stopped.ms > MOST_STOP_MS)
      ? [`at SIGTERM it ended with ${stopped.exitCode} after ${ms(stopped.ms)}`]
      : []),
  ];
};

const counts = (outcomes: Readonly<Record<string, number>>): string =>
  Object.entries(outcomes)
    .toSorted(([, one], [, other]) => other - one)
    .map(([outcome, count]) => `${outcome} × ${count}`)
    .join(', ');

const ms = (value: number): string => `${Math.round(value)} ms`;

/** A row of a table: a name, numbers, and a text. */
const row = (name: string, numbers: readonly string[], text = ''): string =>
  `${name.padEnd(42)}${numbers.map((number) => number.padStart(11)).join('')}   ${text}`;

/** The tables that a soak ends with. */
export const format = (report: Report): string => {
  const { seconds, mostMemoryMb, lastMemoryMb, waits, walks, computeUnits, turns, longestTurns } = report;
  const { connections = 0, stopped, attacks } = report;
  return [
    `${seconds} s of all attacks together against one gateway`,
    `memory: ${Math.round(mostMemoryMb)} MB at its most, ${Math.round(lastMemoryMb)} MB at the end`,
    ...(computeUnits
      ? [
          `compute units: the service was sent requests of ${computeUnits.sent}, the gateway counted ${computeUnits.counted}`,
        ]
      : []),
    `${walks.whole} walks came to their end; ${total(report, 'acknowledged')} deliveries were acknowledged; readers came back over ${connections} connections`,
    ...(stopped ? [`at SIGTERM it ended with ${stopped.exitCode} after ${ms(stopped.ms)}`] : []),
    '',
    row('honest', ['done', 'median', 'p99', 'longest'], 'refused'),
    ...Object.entries(waits).map(([kind, wait]) =>
      row(
        kind,
        [String(wait.done), ...[wait.medianMs, wait.p99Ms, wait.longestMs].map(ms)],
        counts(wait.refused),
      ),
    ),
    '',
    row('turns of 30 ms or more', ['turns', 'took', 'ran', 'no core']),
    ...Object.entries(turns).map(([process, all]) => {
      const sums = (['tookMs', 'ranMs', 'noCoreMs'] as const).map((kind) =>
        ms(sum(all.map((turn) => turn[kind]))),
      );
      return row(process, [String(all.length), ...sums]);
    }),
    ...longestTurns.map((turn) =>
      row('one of the gateway', ['', ms(turn.tookMs), ms(turn.ranMs), ms(turn.noCoreMs)], turn.because),
    ),
    '',
    row('attacks', ['done'], 'ended'),
    ...Object.entries(attacks).map(([name, ends]) =>
      row(name, [String(sum(Object.values(ends)))], counts(ends)),
    ),
  ].join('\n');
};
