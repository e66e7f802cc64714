import { readFile, writeFile } from 'node:fs/promises';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';
import { parseCommandLine } from '../command-line.ts';

/** Builds the WebAssembly kernel; with --check, fails when the committed file is not what its source says. */

const { values } = parseCommandLine('Usage: npm run kernel -- [--check]', {
  options: { check: { type: 'boolean' } },
});

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FILE = new URL('../../src/upstream/kernel/kernel.wasm', import.meta.url);

const built = new Map<string, string | Uint8Array>();
const { error, stderr } = await asc.main(
  [
    'kernel/assembly/index.ts',
    ...['--baseDir', ROOT, '--outFile', 'kernel.wasm'],
    ...['--runtime', 'stub', '--enable', 'simd', '--initialMemory', '37'],
    ...['--optimizeLevel', '3', '--shrinkLevel', '0', '--noAssert'],
  ],
  {
    writeFile(name, contents) {
      built.set(name, contents);
    },
  },
);
const kernel = built.get('kernel.wasm');
if (error !== null || kernel === undefined) {
  process.stderr.write(`${stderr}\n`);
  process.exitCode = 1;
} else if (!values.check) await writeFile(FILE, kernel);
else if (!(await readFile(FILE).catch(() => Buffer.alloc(0))).equals(Buffer.from(kernel))) {
  process.stderr.write('kernel.wasm is not what kernel/assembly/ says. Mend it with: npm run kernel\n');
  process.exitCode = 1;
}
