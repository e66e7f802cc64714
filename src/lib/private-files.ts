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
 * Takes the files of `folder` that `isOwn` names from all users but their owner; a copy made with `cp -r` gives them to
 * everyone. The folder itself is taken as well, unless it holds other things, and no folder is no problem. Rejects with the
 * system's error when the folder can't be read.
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
  if (names.every(isOwn)) await closeOne(folder);
  return { closed, stillOpen };
};

const closeOne = async (path: string): Promise<'none' | 'closed' | 'refused'> => {
  const { mode } = await stat(path);
  if ((mode & OTHERS) === 0) return 'none';
  try {
    await chmod(path, mode & 0o700);
    return 'closed';
  } catch {
    return 'refused';
  }
};
