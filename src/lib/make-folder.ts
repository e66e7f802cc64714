import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes the folder, and those above it, where they are not there yet. Rejects with the system's error where one can't
 * be made. Each is tried twice at most: Node's own recursive `mkdir` tries for ever below a folder that takes none and
 * says that the new one is missing, as /proc does.
 */
export const makeFolder = async (path: string): Promise<void> => {
  try {
    await makeOne(path);
  } catch (error) {
    const above = dirname(path);
    if (codeOf(error) !== 'ENOENT' || above === path) throw error;
    await makeFolder(above);
    await makeOne(path);
  }
};

const makeOne = async (path: string): Promise<void> => {
  try {
    await mkdir(path);
  } catch (error) {
    // What is there already, a system may also say to be read-only or forbidden.
    if (codeOf(error) === 'ENOENT' || !(await isFolder(path))) throw error;
  }
};

const isFolder = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => null);
  return found?.isDirectory() ?? false;
};

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;
