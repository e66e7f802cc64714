import process from 'node:process';
import { measureFanout } from './fanout.ts';
import { measureIngest } from './ingest.ts';
import { measureLookups } from './lookups.ts';

/** `npm run bench -- <name>`: each measures ratios within one run, on loopback alone, and ends by itself. */
const BENCHES: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  ingest: measureIngest,
  fanout: measureFanout,
  lookups: measureLookups,
};

const [name = '', ...args] = process.argv.slice(2);
const bench = BENCHES[name];
if (bench === undefined) {
  process.stderr.write(
    `Expected the name of a bench (${Object.keys(BENCHES).join(', ')}), got ${JSON.stringify(name)}.\n`,
  );
  process.exitCode = 1;
} else await bench(args);
