import type { Tallies } from './attackers.ts';
import type { Checked } from './log-check.ts';
import type { WaitSummary } from './waits.ts';

/** What a soak has shown. */
export type Report = {
  readonly seconds: number;
  /** How the gateway ended before its time; null when it did not. */
  readonly died: string | null;
  /** Resident memory of the gateway; 0 where the machine does not say. */
  readonly mostMemoryMb: number;
  readonly lastMemoryMb: number;
  /** The longest that the honest clients' own process kept them waiting. */
  readonly ownDelayMs: number;
  readonly waits: Readonly<Record<string, WaitSummary>>;
  readonly walks: { readonly whole: number; readonly wrong: readonly string[] };
  /** Of each tenant. */
  readonly deliveries: readonly Checked[];
  /** How many connections the readers have had in all. */
  readonly connections?: number;
  readonly stopped?: { readonly exitCode: number | null; readonly ms: number };
  readonly attacks: Tallies;
};

/** What an honest request may wait for at most, and what the gateway may take of memory. */
const MOST_WAIT_MS = 2000;
const MOST_MEMORY_MB = 1024;
const MOST_STOP_MS = 10_000;
/** Honest requests that may be refused, of all of a kind. */
const MOST_REFUSED = 0.01;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

const total = ({ deliveries }: Report, what: 'acknowledged' | 'lost' | 'twice'): number =>
  sum(deliveries.map((checked) => checked[what]));

const refusals = ({ refused }: WaitSummary): number => sum(Object.values(refused));

/** What was lost, sent twice, or sent in another order: none on any machine. */
export const mistakesOf = (report: Report): string[] => {
  const { died, walks, deliveries } = report;
  const [lost, twice] = [total(report, 'lost'), total(report, 'twice')];
  return [
    ...(died === null ? [] : [`the gateway ended by itself: ${died}`]),
    ...(lost > 0 ? [`${lost} acknowledged deliveries are not in the log`] : []),
    ...(twice > 0 ? [`${twice} deliveries are in the log twice`] : []),
    ...deliveries.flatMap(({ wrong }) => wrong),
    ...walks.wrong.map((walk) => `a walk went wrong: ${walk}`),
    ...(walks.whole === 0 ? ['no walk came to its end'] : []),
  ];
};

/** What took too long, or too much memory, or was refused. */
export const excessesOf = ({ waits, mostMemoryMb, stopped }: Report): string[] => [
  ...Object.entries(waits)
    .filter(([, { longestMs }]) => longestMs > MOST_WAIT_MS)
    .map(([kind, { longestMs }]) => `${kind}: one waited for ${Math.round(longestMs)} ms`),
  ...Object.entries(waits)
    .filter(([, wait]) => refusals(wait) > wait.done * MOST_REFUSED)
    .map(([kind, wait]) => `${kind}: ${refusals(wait)} of ${wait.done} were refused`),
  ...(mostMemoryMb >= MOST_MEMORY_MB ? [`memory came to ${Math.round(mostMemoryMb)} MB`] : []),
  ...(stopped && (stopped.exitCode !== 0 || stopped.ms > MOST_STOP_MS)
    ? [`at SIGTERM it ended with ${stopped.exitCode} after ${Math.round(stopped.ms)} ms`]
    : []),
];

const counts = (outcomes: Readonly<Record<string, number>>): string =>
  Object.entries(outcomes)
    .toSorted(([, one], [, other]) => other - one)
    .map(([outcome, count]) => `${outcome} × ${count}`)
    .join(', ');

const ms = (value: number): string => `${Math.round(value)} ms`.padStart(11);

/** The table that a soak ends with. */
export const format = (report: Report): string => {
  const {
    seconds,
    mostMemoryMb,
    lastMemoryMb,
    ownDelayMs,
    waits,
    walks,
    connections = 0,
    stopped,
    attacks,
  } = report;
  const honest = Object.entries(waits).map(
    ([kind, wait]) =>
      `${kind.padEnd(14)}${String(wait.done).padStart(9)}${ms(wait.medianMs)}${ms(wait.p99Ms)}${ms(wait.longestMs)}   ${counts(wait.refused)}`,
  );
  const hostile = Object.entries(attacks).map(
    ([name, outcomes]) =>
      `${name.padEnd(38)}${String(sum(Object.values(outcomes))).padStart(8)}   ${counts(outcomes)}`,
  );
  return [
    `${seconds} s of all attacks together against one gateway`,
    `memory: ${Math.round(mostMemoryMb)} MB at its most, ${Math.round(lastMemoryMb)} MB at the end`,
    `the honest clients' own process kept them waiting for ${Math.round(ownDelayMs)} ms at its most`,
    '',
    `${'honest'.padEnd(14)}${'done'.padStart(9)}${'median'.padStart(11)}${'p99'.padStart(11)}${'longest'.padStart(11)}   refused`,
    ...honest,
    `${walks.whole} walks came to their end; ${total(report, 'acknowledged')} deliveries were acknowledged; readers came back over ${connections} connections`,
    ...(stopped ? [`at SIGTERM it ended with ${stopped.exitCode} after ${Math.round(stopped.ms)} ms`] : []),
    '',
    `${'attacks'.padEnd(38)}${'done'.padStart(8)}   answered`,
    ...hostile,
  ].join('\n');
};
