import { sum, tableOf } from '../harness/figures.ts';
import { ATTACKS } from './attacks/registry.ts';
import type { Turn } from './loop.ts';
import type { Tally } from './repeat.ts';
import type { Checked } from './tenants.ts';
import { during, MOST_WAIT_MS, type Wait, type WaitSummary } from './waits.ts';

/** What a soak has shown. */
export type Report = {
  readonly seconds: number;
  /** How the gateway ended before its time; null when it did not. */
  readonly died: string | null;
  /** Resident memory of the gateway; 0 where the machine does not say. */
  readonly mostMemoryMb: number;
  readonly lastMemoryMb: number;
  readonly waits: Readonly<Record<string, WaitSummary>>;
  /** How walks have ended. */
  readonly walks: Readonly<Tally>;
  /** Of each tenant. */
  readonly deliveries: readonly Checked[];
  /** What the lookups cost that the service was sent, and what the gateway has counted for them; null when it died. */
  readonly computeUnits: { readonly sent: number; readonly counted: number } | null;
  /** Requests to the service that no gateway should make. */
  readonly stray: readonly string[];
  /** The long turns of the event loops that a request waits for, by process. */
  readonly turns: Readonly<Record<string, readonly Turn[]>>;
  /** How many connections the readers have had in all. */
  readonly connections?: number;
  readonly stopped?: { readonly exitCode: number | null; readonly ms: number };
  /** How each attack has ended. */
  readonly attacks: Readonly<Record<string, Readonly<Tally>>>;
};

/** What the gateway may take of memory. */
const MOST_MEMORY_MB = 1024;
const MOST_STOP_MS = 10_000;
/** Honest requests that may be refused, of all of a kind. */
const MOST_REFUSED = 0.01;

const ms = (value: number): string => `${Math.round(value)} ms`;

const total = (tally: Readonly<Tally>): number => sum(Object.values(tally));

/** What has become of deliveries as it should not. */
export const mistakesOfDeliveries = (deliveries: readonly Checked[]): string[] => {
  const [lost, twice] = (['lost', 'twice'] as const).map((what) =>
    sum(deliveries.map((checked) => checked[what])),
  );
  return [
    ...(lost ? [`${lost} acknowledged deliveries are not in the log`] : []),
    ...(twice ? [`${twice} deliveries are in the log twice`] : []),
    ...deliveries.flatMap(({ wrong }) => wrong),
  ];
};

/** What was lost, sent twice, sent in another order, not counted, or not held: none on any machine. */
export const mistakesOf = ({ died, walks, deliveries, computeUnits, stray, attacks }: Report): string[] => [
  ...(died === null ? [] : [`the gateway ended by itself: ${died}`]),
  ...mistakesOfDeliveries(deliveries),
  ...Object.keys(walks)
    .filter((end) => end !== 'whole' && end !== 'refused')
    .map((walk) => `a walk went wrong: ${walk}`),
  ...(walks.whole ? [] : ['no walk came to its end']),
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
      .filter(([, { refused, count }]) => total(refused) > count * MOST_REFUSED)
      .map(([kind, { refused, count }]) => `${kind}: ${total(refused)} of ${count} were refused`),
    ...(mostMemoryMb >= MOST_MEMORY_MB ? [`memory came to ${Math.round(mostMemoryMb)} MB`] : []),
    ...(stopped && (stopped.exitCode !== 0 || stopped.ms > MOST_STOP_MS)
      ? [`at SIGTERM it ended with ${stopped.exitCode} after ${ms(stopped.ms)}`]
      : []),
  ];
};

const counts = (tally: Readonly<Tally>): string =>
  Object.entries(tally)
    .toSorted(([, one], [, other]) => other - one)
    .map(([end, count]) => `${end} × ${count}`)
    .join(', ');

/** The longest turns of all that are shown. */
const SHOWN = 4;

/** The tables that a soak ends with. */
export const format = (report: Report): string => {
  const { seconds, waits, walks, deliveries, computeUnits, turns, connections = 0, stopped } = report;
  const acknowledged = sum(deliveries.map((checked) => checked.acknowledged));
  const turnRow = (name: string, all: readonly Turn[]): string[] => [
    name,
    String(all.length),
    ...(['tookMs', 'ranMs', 'noCoreMs'] as const).map((kind) => ms(sum(all.map((turn) => turn[kind])))),
  ];
  const longest = (turns.gateway ?? []).toSorted((one, other) => other.tookMs - one.tookMs).slice(0, SHOWN);
  return [
    `${seconds} s of all attacks together against one gateway`,
    `memory: ${Math.round(report.mostMemoryMb)} MB at its most, ${Math.round(report.lastMemoryMb)} MB at the end`,
    ...(computeUnits
      ? [
          `compute units: the service was sent requests of ${computeUnits.sent}, the gateway counted ${computeUnits.counted}`,
        ]
      : []),
    `${walks.whole ?? 0} walks came to their end; ${acknowledged} deliveries were acknowledged; readers came back over ${connections} connections`,
    ...(stopped ? [`at SIGTERM it ended with ${stopped.exitCode} after ${ms(stopped.ms)}`] : []),
    '',
    tableOf([
      ['honest', 'done', 'median', 'p99', 'longest', 'refused'],
      ...Object.entries(waits).map(([kind, { count, p50Ms, p99Ms, maxMs, refused }]) => [
        kind,
        String(count),
        ...[p50Ms, p99Ms, maxMs].map(ms),
        counts(refused),
      ]),
    ]),
    '',
    tableOf([
      ['turns of 30 ms or more', 'turns', 'took', 'ran', 'no core'],
      ...Object.entries(turns).map(([process, all]) => turnRow(process, all)),
      ...longest.map((turn) => turnRow('one of the gateway', [turn])),
    ]),
    '',
    tableOf([
      ['attacks', 'done', 'ended'],
      ...Object.entries(report.attacks).map(([name, tally]) => [name, String(total(tally)), counts(tally)]),
    ]),
  ].join('\n');
};
