import process from 'node:process';
import { parseArgs } from 'node:util';
import { excessesOf, format, mistakesOf } from './report.ts';
import { soak } from './soak.ts';

/**
 * `npm run soak -- --minutes 10` (or `--seconds 30`; `--only 'scans that find nothing'`, as often as wanted): exits with
 * 1 when something was lost, told twice, too slow or too big.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string', multiple: true },
  },
});
const seconds = Number(values.seconds ?? 60 * Number(values.minutes ?? 1));
if (!(seconds > 0)) throw new RangeError('Expected --minutes or --seconds above 0, got something else.');

const report = await soak({
  seconds,
  only: values.only ?? null,
  onProgress: (line) => process.stderr.write(`${line}\n`),
});
const problems = [...mistakesOf(report), ...excessesOf(report)];
process.stdout.write(`${format(report)}\n\n${problems.join('\n') || 'All bounds were kept.'}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
