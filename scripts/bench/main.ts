import process from 'node:process';
import { failWithUsage } from '../command-line.ts';
import { measureChurn } from './churn.ts';
import { measureFanout, measureGateways } from './fanout.ts';
import { measureFreshness } from './fresh.ts';
import { guard } from './guard.ts';
import { measureIndexing } from './indexing.ts';
import { measureIngest } from './ingest.ts';
import { measureLookups } from './lookups.ts';
import { measureOwnChain } from './own-chain.ts';
import { measureStarts } from './start.ts';
import { measureWorkers } from './workers.ts';

/** `npm run bench -- <name>`: each measures ratios within one run, on loopback alone, and ends by itself. */
const BENCHES: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  churn: measureChurn,
  fresh: measureFreshness,
  guard,
  index: measureIndexing,
  ingest: measureIngest,
  fanout: measureFanout,
  gateways: measureGateways,
  lookups: measureLookups,
  own: measureOwnChain,
  start: measureStarts,
  workers: measureWorkers,
};

const names = Object.keys(BENCHES);
const usage = `Usage: npm run bench -- <${names.join(' | ')}> [<argument>...]`;

const [name = '', ...args] = process.argv.slice(2);
const bench = BENCHES[name];
if (name === '--help') process.stdout.write(`${usage}\n`);
else if (bench === undefined)
  failWithUsage(`Expected the name of a bench (${names.join(', ')}), got ${JSON.stringify(name)}.`, usage);
else await bench(args);
