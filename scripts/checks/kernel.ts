import process from 'node:process';
import asc from 'assemblyscript/asc';
import { generator, ROOT } from './generated.ts';

/** Builds the WebAssembly kernel. */

const save = generator('kernel');
const built = new Map<string, string | Uint8Array>();
const { error, stderr } = await asc.main(
  [
    'kernel/assembly/index.ts',
    ...['--baseDir', ROOT, '--outFile', 'kernel.wasm'],
    ...['--runtime', 'stub', '--enable', 'simd', '--initialMemory', '37'],
    ...['--optimizeLevel', '3', '--shrinkLevel', '0', '--noAssert'],
  ],
  { writeFile: (name, contents) => void built.set(name, contents) },
);
const kernel = built.get('kernel.wasm');
if (error === null && kernel !== undefined) await save('src/upstream/kernel/kernel.wasm', kernel);
else {
  process.stderr.write(`${stderr}\n`);
  process.exitCode = 1;
}
