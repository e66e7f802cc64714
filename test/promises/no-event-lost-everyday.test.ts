import { expect, test } from 'vitest';
import { type Everyday, everyday, problemsOf, tooEarlyOf } from '../../scripts/soak/everyday.ts';
import type { Tally } from '../../scripts/soak/repeat.ts';

/** `npm run soak -- --everyday`, but short: its memory is not asserted here. */

test('in everyday use over a service that is killed, everything is used and no event is lost', {
  timeout: 600_000,
}, async () => {
  let before: Everyday['outcomes'] | null = null;
  const report = await everyday({
    // A busy machine takes its time.
    seconds: 240,
    ...{ restartsEveryMs: 2000, rush: 500, pauseMs: 200 },
    // When the service runs again, all is used once more.
    until({ outcomes, restarts, traceRequests }) {
      if (restarts > 0) before ??= structuredClone(outcomes);
      const isUsed = ([name, { ok = 0 }]: [string, Tally]) => ok > (before?.[name]?.ok ?? 0);
      return before !== null && traceRequests > 0 && Object.entries(outcomes).every(isUsed);
    },
  });
  expect(report.deliveries).toMatchObject({ lost: 0, twice: 0, wrong: [] });
  expect(report.exitCodes).toEqual([0, 0]);
  expect(report.restarts).toBeGreaterThan(0);
  expect(report.traceRequests).toBeGreaterThan(0);
  expect(report.deliveries.acknowledged).toBeGreaterThan(0);
  for (const [name, { ok = 0 }] of Object.entries(report.outcomes)) expect(ok, name).toBeGreaterThan(0);
});

/** Twenty minutes. In minutes 5 to 9 the lowest is 300. */
const minutesTo = (last: number): number[] => [
  ...[200, 250, 280, 290, 310, 320, 300, 340, 350, 350, 400, 410, 420, 430, 440],
  ...[400, 390, 380, 370, last],
];

const UNTROUBLED: Everyday = {
  outcomes: { scroll: { ok: 100 } },
  memory: { any: minutesTo(340) },
  restarts: 1,
  deliveries: { acknowledged: 10, lost: 0, twice: 0, wrong: [] },
  traceRequests: 1,
  exitCodes: [0, 0],
};

test('an everyday soak reports memory that grows, uses that fail, events that are lost, and gateways that end badly', () => {
  expect(problemsOf(UNTROUBLED)).toEqual([]);
  expect(
    problemsOf({
      ...UNTROUBLED,
      outcomes: { scroll: { ok: 70, UPSTREAM_UNAVAILABLE: 30 }, watch: {} },
      memory: { any: minutesTo(350) },
      deliveries: { acknowledged: 10, lost: 1, twice: 2, wrong: ['reader 0 differs'] },
      exitCodes: [0, null],
    }),
  ).toEqual([
    'any: the memory grew from 300 MB in minutes 5 to 9 to 350 MB in the last five',
    'scroll: 30 of 100 turns failed: {"ok":70,"UPSTREAM_UNAVAILABLE":30}',
    'watch: no turn has ended',
    '1 acknowledged deliveries are not in the log',
    '2 deliveries are in the log twice',
    'reader 0 differs',
    'the gateways ended with 0 and null',
  ]);
  const { deliveries } = UNTROUBLED;
  expect(problemsOf({ ...UNTROUBLED, deliveries: { ...deliveries, acknowledged: 0 } })).toEqual([
    'no delivery was acknowledged',
  ]);
});

test('an everyday soak does not judge memory before minute 20', () => {
  const early = { ...UNTROUBLED, memory: { any: [...minutesTo(0).slice(0, 14), ...Array(5).fill(900)] } };
  expect(problemsOf(early)).toEqual([]);
  expect(tooEarlyOf(early)).toEqual(['any: it is too early to judge memory, after 19 of 20 minutes']);
  expect(tooEarlyOf(UNTROUBLED)).toEqual([]);
});
