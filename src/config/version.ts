import { readFileSync } from 'node:fs';
import { z } from 'zod';

const packageJson = z.object({ version: z.string() });

/** The version of this package. */
export const readVersion = (): string =>
  packageJson.parse(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))).version;
