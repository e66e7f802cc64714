import { randomBytes } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../lib/error-text.ts';
import { makeFolder } from '../../lib/make-folder.ts';

const FILE = 'delivery-secret';
const IDENTITY_FILE = 'delivery-identity';
const MIN_LENGTH = 32;

/** The secret file can't be read or created. The message names the file and the cause. */
export class DeliverySecretError extends Error {
  constructor(path: string, problem: string, cause?: unknown) {
    super(`${path}: ${problem}`, { cause });
    this.name = 'DeliverySecretError';
  }
}

export const newDeliverySecret = (): string => randomBytes(32).toString('base64url');

/**
 * Reads the secret that signs delivery URLs. The first call creates it in `directory`, readable by its owner only.
 * Processes that start at the same time get the same secret. Rejects with DeliverySecretError.
 */
export const loadDeliverySecret = async (directory: string): Promise<string> =>
  (await loadSecret(directory, FILE, newDeliverySecret(), MIN_LENGTH)).trim();

/**
 * Reads what this installation's names and cursors are made with: its first secret. It is written down only once that is
 * about to be replaced (`secrets` has a second one), so that nobody finds a secret in `directory` that still signs alone.
 * Rejects with DeliverySecretError.
 */
export const loadIdentity = (
  directory: string,
  [secret, next]: readonly [string, ...string[]],
): Promise<string> => loadSecret(directory, IDENTITY_FILE, secret, 1, next !== undefined);

const loadSecret = async (
  directory: string,
  name: string,
  initial: string,
  minLength: number,
  keeps = true,
): Promise<string> => {
  const path = join(directory, name);
  try {
    const known = await readExisting(path);
    const secret = known ?? (keeps ? await create(directory, path, initial) : initial);
    if (secret.length < minLength) throw new Error(`is shorter than ${minLength} characters`);
    return secret;
  } catch (error) {
    throw new DeliverySecretError(path, messageOf(error), error);
  }
};

const readExisting = async (path: string): Promise<string | null> => {
  try {
    return withoutNewline(await readFile(path, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
};

/** Writes a temporary file, then links it: no process reads a partial secret, and one of two writers wins. */
const create = async (directory: string, path: string, secret: string): Promise<string> => {
  await makeFolder(directory);
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(`${secret}\n`);
    await file.sync();
    await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await syncDirectory(directory);
  } finally {
    await file.close();
    await rm(temporary, { force: true });
  }
  return withoutNewline(await readFile(path, 'utf8'));
};

const withoutNewline = (text: string): string => text.replace(/\r?\n$/, '');

const syncDirectory = async (directory: string): Promise<void> => {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
