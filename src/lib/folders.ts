import { chmod, mkdir, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Creates the folder and its missing parents. Rejects with the system's error when one can't be created. Each is tried
 * at most twice: Node's recursive `mkdir` tries for ever in a folder such as /proc, which reports a new one as missing.
 */
export const makeFolder = async (path: string): Promise<void> => {
  try {
    await createOne(path);
  } catch (error) {
    const above = dirname(path);
    if (codeOf(error) !== 'ENOENT' || above === path) throw error;
    await makeFolder(above);
    await createOne(path);
  }
};

const createOne = async (path: string): Promise<void> => {
  try {
    await mkdir(path);
  } catch (error) {
    // For an existing folder, a system may report that its parent is read-only or forbidden.
    if (codeOf(error) === 'ENOENT' || !(await isFolder(path))) throw error;
  }
};

const isFolder = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => null);
  return found?.isDirectory() ?? false;
};

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

/** The permissions of the group and of others. */
const OTHERS = 0o077;

/** The names of files that other users could use. */
export type OpenFiles = {
  /** Only their owner can use them now. */
  readonly closed: readonly string[];
  /** They belong to another user, who alone can change that. */
  readonly stillOpen: readonly string[];
};

/**
 * Closes the files of `folder` that `isOwn` names to all users except their owner; a copy made with `cp -r` may open them to
 * everyone. The folder itself, reported as `.`, is closed as well unless it holds other things or belongs to another user. A
 * folder without such files keeps its mode. A missing folder is fine. Rejects with the system's error when the folder can't
 * be read.
 */
export const closeToOthers = async (folder: string, isOwn: (name: string) => boolean): Promise<OpenFiles> => {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  const [closed, stillOpen]: [string[], string[]] = [[], []];
  if (names === null) return { closed, stillOpen };
  for (const name of names.filter(isOwn)) {
    const change = await closeOne(join(folder, name));
    if (change !== 'none') (change === 'closed' ? closed : stillOpen).push(name);
  }
  const holdsOpen = closed.length + stillOpen.length > 0;
  if (holdsOpen && names.every(isOwn) && (await closeOne(folder)) === 'closed') closed.push('.');
  return { closed, stillOpen };
};

const closeOne = async (path: string): Promise<'none' | 'closed' | 'refused'> => {
  try {
    const { mode } = await stat(path);
    if ((mode & OTHERS) === 0) return 'none';
    await chmod(path, mode & 0o700);
    return 'closed';
  } catch (error) {
    // SQLite removes files beside the log while an earlier gateway still closes it.
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'none' : 'refused';
  }
};
