import process from 'node:process';
import { failWithUsage, parseCommandLine } from '../command-line.ts';
import { everyday } from './everyday/everyday.ts';
import { formatEveryday, problemsOf } from './everyday/report.ts';
import { excessesOf, format, mistakesOf } from './report.ts';
import { soak } from './soak.ts';

/** Exits with 1 when something was lost, sent twice, too slow or too large. */

const USAGE = `Usage: npm run soak -- [--minutes <number> | --seconds <number>] [[--only <attack>]... | --everyday]`;

const { values } = parseCommandLine(USAGE, {
  options: {
    minutes: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string', multiple: true },
    everyday: { type: 'boolean', default: false },
  },
});
const seconds = Number(values.seconds ?? 60 * Number(values.minutes ?? 1));
if (!(seconds > 0)) failWithUsage('Expected --minutes or --seconds above 0, got something else.', USAGE);

if (values.everyday && values.only) failWithUsage('Expected --everyday or --only, got both.', USAGE);
const onProgress = (line: string): void => void process.stderr.write(`${line}\n`);

const shown = async (): Promise<{ text: string; problems: readonly string[] }> => {
  if (values.everyday) {
    const report = await everyday({ seconds, onProgress });
    return { text: formatEveryday(report), problems: problemsOf(report) };
  }
  const report = await soak({ seconds, only: values.only ?? null, onProgress });
  return { text: format(report), problems: [...mistakesOf(report), ...excessesOf(report)] };
};

const { text, problems } = await shown();
process.stdout.write(`${text}\n\n${problems.join('\n') || 'All bounds were kept.'}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
