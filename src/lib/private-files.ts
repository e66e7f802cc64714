import { chmod, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

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
