import { readScript } from '../../../redis/script.ts';

const fileOf = (name: string) => new URL(`./${name}.lua`, import.meta.url);
const read = (name: string) => readScript(fileOf('state'), fileOf(name));

/** The scripts that work on one tenant's log. Each file says what it takes and returns; `state.lua` is the beginning of all. */
export const APPEND = read('append');
export const READ = read('read');
export const LOAD = read('load');
export const TRIM = read('trim');
export const REACH = read('reach');
