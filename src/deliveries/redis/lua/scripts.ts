import { readScript } from '../../../redis/script.ts';

const read = (name: string) => readScript(new URL(`./${name}.lua`, import.meta.url));

/** The scripts that work on one tenant's log. Each file says what it takes and returns. */
export const APPEND = read('append');
export const READ = read('read');
export const LOAD = read('load');
export const TRIM = read('trim');
