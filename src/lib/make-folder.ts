import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

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
