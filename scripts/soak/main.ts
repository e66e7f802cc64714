import process from 'node:process';
import { failWithUsage, parseCommandLine } from '../command-line.ts';
import { excessesOf, format, mistakesOf } from './report.ts';
import { soak } from './soak.ts';

/** Exits with 1 when something was lost, sent twice, too slow or too large. */

const USAGE = `Usage: npm run soak -- [--minutes <number> | --seconds <number>] [--only <attack>]...`;

const { values } = parseCommandLine(USAGE, {
  options: {
    minutes: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string', multiple: true },
  },
});
const seconds = Number(values.seconds ?? 60 * Number(values.minutes ?? 1));
if (!(seconds > 0)) failWithUsage('Expected --minutes or --seconds above 0, got something else.', USAGE);

const report = await soak({
  seconds,
  only: values.only ?? null,
  onProgress: (line) => process.stderr.write(`${line}\n`),
});
const problems = [...mistakesOf(report), ...excessesOf(report)];
process.stdout.write(`${format(report)}\n\n${problems.join('\n') || 'All bounds were kept.'}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
