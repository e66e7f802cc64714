import process from 'node:process';
import { failWithUsage, parseCommandLine } from '../command-line.ts';
import { print } from '../harness/figures.ts';
import { ATTACKS } from './attacks/registry.ts';
import { liveDashboard } from './dashboard.ts';
import { everyday, formatEveryday, problemsOf, tooEarlyOf } from './everyday.ts';
import { excessesOf, format, mistakesOf, unjudgedOf } from './report.ts';
import { soak } from './soak.ts';

/** Exits with 1 when something was lost, sent twice, too slow or too large. */

const USAGE =
  'Usage: npm run soak -- [--minutes <number> | --seconds <number>] [[--only <attack>]... [--profile <folder>] | --everyday | --dashboard]';

const { values } = parseCommandLine(USAGE, {
  options: {
    minutes: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string', multiple: true },
    profile: { type: 'string' },
    everyday: { type: 'boolean', default: false },
    dashboard: { type: 'boolean', default: false },
  },
});
const { only, profile } = values;
const seconds = Number(values.seconds ?? 60 * Number(values.minutes ?? 1));
if (!(seconds > 0)) failWithUsage('Expected --minutes or --seconds above 0, got something else.', USAGE);
const kinds = [values.everyday, values.dashboard, (only ?? profile) !== undefined].filter(Boolean);
if (kinds.length > 1)
  failWithUsage('Expected --everyday, or --dashboard, or --only and --profile, got more than one.', USAGE);
const names = ATTACKS.map(({ name }) => name);
const unknown = only?.find((name) => !names.includes(name));
if (unknown !== undefined)
  failWithUsage(`Expected an attack (${names.join('; ')}), got ${JSON.stringify(unknown)}.`, USAGE);
const onProgress = (line: string): void => void process.stderr.write(`${line}\n`);

const run = async () => {
  if (values.dashboard) {
    const { figures, problems } = await liveDashboard({ seconds, onProgress });
    return { text: JSON.stringify(figures, null, 2), problems, unjudged: [] };
  }
  if (values.everyday) {
    const report = await everyday({ seconds, onProgress });
    return { text: formatEveryday(report), problems: problemsOf(report), unjudged: tooEarlyOf(report) };
  }
  const report = await soak({ seconds, only: only ?? null, profile, onProgress });
  const problems = [...mistakesOf(report), ...excessesOf(report)];
  return { text: format(report), problems, unjudged: unjudgedOf(report) };
};

const { text, problems, unjudged } = await run();
const verdict = problems.length > 0 ? problems : ['All bounds that could be judged were kept.'];
print([text, '', ...verdict, ...unjudged.map((line) => `Not judged: ${line}`)].join('\n'));
process.exitCode = problems.length === 0 ? 0 : 1;
