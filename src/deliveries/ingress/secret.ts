import { randomBytes } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../lib/make-folder.ts';
import { messageOf } from '../log/errors.ts';

const FILE = 'delivery-secret';
const MIN_LENGTH = 32;

/** The secret could not be read or made; the message names the file and the cause. */
export class DeliverySecretError extends Error {
  constructor(path: string, problem: string, cause?: unknown) {
    super(`${path}: ${problem}`, { cause });
    this.name = 'DeliverySecretError';
  }
}

/**
 * The secret that signs delivery urls, made at the first call and kept in `directory`, readable by its owner alone.
 * Processes that start at once get the same one. Rejects with DeliverySecretError.
 */
export const loadDeliverySecret = async (directory: string): Promise<string> => {
  const path = join(directory, FILE);
  try {
    const secret = (await readExisting(path)) ?? (await make(directory, path));
    if (secret.length < MIN_LENGTH) throw new Error(`is shorter than ${MIN_LENGTH} characters`);
    return secret;
  } catch (error) {
    throw new DeliverySecretError(path, messageOf(error), error);
  }
};

const readExisting = async (path: string): Promise<string | null> => {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
};

/** Writes aside, then links: nobody sees half a secret, and of two makers one wins. */
const make = async (directory: string, path: string): Promise<string> => {
  await makeFolder(directory);
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  const file = await open(aside, 'wx', 0o600);
  try {
    await file.writeFile(`${randomBytes(32).toString('base64url')}\n`);
    await file.sync();
    await link(aside, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await syncDirectory(directory);
  } finally {
    await file.close();
    await rm(aside, { force: true });
  }
  return (await readFile(path, 'utf8')).trim();
};

const syncDirectory = async (directory: string): Promise<void> => {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
