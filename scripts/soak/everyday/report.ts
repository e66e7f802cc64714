import type { Everyday } from './everyday.ts';

/** By the fifth minute caches are full and code is compiled. */
const SETTLED_MINUTE = 4;
/** Garbage is collected every few minutes: the lowest of five minutes is what is in use. */
const WINDOW = 5;
/** Before this minute, caches that still fill up look like a leak. */
const JUDGED_FROM_MINUTE = 20;
const MOST_GROWTH = 1.15;
/** Answers while the service is down, of all turns of a use. */
const MOST_FAILED = 0.2;

/** What an everyday soak has shown to be wrong. */
export const problemsOf = ({ outcomes, memory, deliveries, exitCodes }: Everyday): string[] => [
  ...Object.entries(memory).flatMap(([name, minutes]) => {
    if (minutes.length < JUDGED_FROM_MINUTE) return [];
    const settled = Math.min(...minutes.slice(SETTLED_MINUTE, SETTLED_MINUTE + WINDOW));
    const last = Math.min(...minutes.slice(-WINDOW));
    return last > settled * MOST_GROWTH
      ? [`${name}: the memory grew from ${settled} MB in minutes 5 to 9 to ${last} MB in the last five`]
      : [];
  }),
  ...Object.entries(outcomes).flatMap(([use, counts]) => {
    const turns = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const failed = turns - (counts.ok ?? 0);
    if (turns === 0) return [`${use}: no turn has ended`];
    return failed > turns * MOST_FAILED
      ? [`${use}: ${failed} of ${turns} turns failed: ${JSON.stringify(counts)}`]
      : [];
  }),
  ...(deliveries.acknowledged === 0 ? ['no delivery was acknowledged'] : []),
  ...(deliveries.lost > 0 ? [`${deliveries.lost} acknowledged deliveries are lost`] : []),
  ...(deliveries.twice > 0 ? [`${deliveries.twice} deliveries are stored twice`] : []),
  ...deliveries.wrong,
  ...(exitCodes.some((code) => code !== 0)
    ? [`the gateways ended with ${exitCodes.map(String).join(' and ')}`]
    : []),
];

/** The gateways whose memory can't be judged yet. */
export const tooEarlyOf = ({ memory }: Everyday): string[] =>
  Object.entries(memory)
    .filter(([, { length }]) => length < JUDGED_FROM_MINUTE)
    .map(
      ([name, { length }]) =>
        `${name}: it is too early to judge memory, after ${length} of ${JUDGED_FROM_MINUTE} minutes`,
    );

/** The report as lines of text. */
export const formatEveryday = (report: Everyday): string => {
  const { outcomes, memory, restarts, deliveries, traceRequests } = report;
  return [
    'Median memory of each minute, in MB:',
    ...Object.entries(memory).map(([name, minutes]) => `  ${name.padEnd(10)}${minutes.join(' ')}`),
    'How turns have ended:',
    ...Object.entries(outcomes).map(([use, counts]) => `  ${use.padEnd(10)}${JSON.stringify(counts)}`),
    `${deliveries.acknowledged} deliveries were acknowledged, ${deliveries.lost} lost, and ${deliveries.twice} stored twice.`,
    `The service was killed and started again ${restarts} times. The collector of traces got ${traceRequests} requests.`,
  ].join('\n');
};
