import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseCommandLine } from '../command-line.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * For a program that writes files of the repository from others. It reads the command line of `npm run <name>`, and returns
 * what saves a file: with --check, a file that differs is not written but named, and the program fails.
 */
export const generator = (name: string) => {
  const command = `npm run ${name}`;
  const { values } = parseCommandLine(`Usage: ${command} -- [--check]`, {
    options: { check: { type: 'boolean' } },
  });
  return async (path: string, content: string | Uint8Array): Promise<void> => {
    const file = join(ROOT, path);
    if (!values.check) {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
    } else if (!(await readFile(file).catch(() => Buffer.alloc(0))).equals(Buffer.from(content))) {
      process.stderr.write(`${path} is not what its sources say. Mend it with: ${command}\n`);
      process.exitCode = 1;
    }
  };
};
