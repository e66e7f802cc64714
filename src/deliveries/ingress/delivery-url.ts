import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { messageOf } from '../../lib/errors.ts';
import { makeFolder } from '../../lib/folders.ts';

/**
 * The URLs to which upstream posts a tenant's events: `/deliveries/{tenant}/{token}`. The token is an HMAC of the tenant, and
 * of the version of its URL from version 2 on. While a secret or a version is replaced, a tenant has several URLs.
 */
export type DeliveryUrls = {
  /**
   * Returns a tenant's current URL under `publicUrl`, by which upstream reaches this gateway, with or without a path.
   * `webhookId` names the webhook in the query, for a deployment that does not name it in its headers. Throws RangeError for
   * a tenant that can't stand in a URL's path.
   */
  urlOf(publicUrl: string, tenant: string, webhookId?: string | null): string;
  /** Returns all URLs of the tenant that are accepted, the current one first. Throws as `urlOf` does. */
  urlsOf(publicUrl: string, tenant: string, webhookId?: string | null): readonly string[];
  /**
   * Returns the tenant of the path's segments after `/deliveries`, which are still percent-encoded; null unless they are a
   * tenant and a token of it. The comparison takes constant time.
   */
  tenantOf(segments: readonly string[]): string | null;
  /** Whether the text is among `urlsOf` some tenant, and names this webhook or none. */
  isUrlFor(publicUrl: string, webhookId: string, text: string): boolean;
};

const TOKEN_BYTES = 32;

/** Whether the text can be a tenant: it can stand in a URL's path. */
export const isTenant = (text: string): boolean => !['', '.', '..'].includes(text) && text.isWellFormed();

/** The versions of the URLs of tenants, by the tenant as it stands in the path: the first signs, all verify. */
export type UrlVersions = ReadonlyMap<string, readonly number[]>;

/** The first of the secrets signs, and each verifies. A tenant that is not among the `versions` has version 1. */
export const createDeliveryUrls = (
  secrets: string | readonly string[],
  versions: UrlVersions = new Map(),
): DeliveryUrls => {
  const tokensOf = (tenant: string): readonly [Buffer, ...Buffer[]] => {
    const [current = 1, ...older] = versions.get(encodeURIComponent(tenant)) ?? [];
    const [signing = '', ...others] = typeof secrets === 'string' ? [secrets] : secrets;
    const tokenOf = (secret: string, version: number) =>
      // The secret may also sign other things: the prefix keeps their HMACs from being tokens.
      createHmac('sha256', secret).update(`delivery-url:${version}:${tenant}`).digest();
    return [
      tokenOf(signing, current),
      ...older.map((version) => tokenOf(signing, version)),
      ...others.flatMap((secret) => [current, ...older].map((version) => tokenOf(secret, version))),
    ];
  };

  const tenantOf = (segments: readonly string[]): string | null => {
    const [encoded, token, ...rest] = segments;
    if (encoded === undefined || token === undefined || rest.length > 0) return null;
    const tenant = decodeSegment(encoded);
    if (tenant === null) return null;
    const given = Buffer.from(token, 'base64url');
    const exact = given.length === TOKEN_BYTES && given.toString('base64url') === token;
    const compared = exact ? given : Buffer.alloc(TOKEN_BYTES);
    const equal = tokensOf(tenant).map((expected) => timingSafeEqual(compared, expected));
    return exact && equal.includes(true) ? tenant : null;
  };

  const urlsOf = (
    publicUrl: string,
    tenant: string,
    webhookId?: string | null,
  ): readonly [string, ...string[]] => {
    if (!isTenant(tenant))
      throw new RangeError(
        `Expected a tenant that can stand in a URL's path, got ${JSON.stringify(tenant)}.`,
      );
    const url = new URL(publicUrl);
    const path = `${url.pathname.replace(/\/+$/, '')}/deliveries/${encodeURIComponent(tenant)}`;
    url.search = webhookId ? new URLSearchParams({ webhook: webhookId }).toString() : '';
    const withToken = (token: Buffer): string => {
      url.pathname = `${path}/${token.toString('base64url')}`;
      return url.href;
    };
    const [current, ...others] = tokensOf(tenant);
    return [withToken(current), ...others.map(withToken)];
  };

  return {
    tenantOf,
    isUrlFor(publicUrl, webhookId, text) {
      if (!URL.canParse(text)) return false;
      const { origin, pathname, searchParams } = new URL(text);
      const base = new URL(publicUrl);
      const path = `${base.pathname.replace(/\/+$/, '')}/deliveries/`;
      if (origin !== base.origin || !pathname.startsWith(path)) return false;
      const named = searchParams.get('webhook');
      return (
        (named === null || named === webhookId) && tenantOf(pathname.slice(path.length).split('/')) !== null
      );
    },
    urlsOf,
    urlOf: (publicUrl, tenant, webhookId) => urlsOf(publicUrl, tenant, webhookId)[0],
  };
};

const decodeSegment = (segment: string): string | null => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
};

/**
 * Caches the verified URL of each connection, because a sender posts to one URL over one connection. The cache ends with
 * the connection: a shared one would let the time of an answer tell a sender about another's URL.
 */
export const cacheByConnection = ({ tenantOf }: Pick<DeliveryUrls, 'tenantOf'>) => {
  const verified = new WeakMap<Socket, { readonly path: string; readonly tenant: string }>();
  return ({ socket }: IncomingMessage, segments: readonly string[]): string | null => {
    const path = segments.join('/');
    const known = verified.get(socket);
    if (known?.path === path) return known.tenant;
    const tenant = tenantOf(segments);
    if (tenant !== null) verified.set(socket, { path, tenant });
    return tenant;
  };
};

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
 * about to be replaced (`secrets` has a second one), so that reading `directory` does not reveal the only secret that signs.
 * Rejects with DeliverySecretError.
 */
export const loadIdentity = (
  directory: string,
  [secret, next]: readonly [string, ...string[]],
): Promise<string> => loadSecret(directory, IDENTITY_FILE, secret, 1, next !== undefined);

/** The secrets that are kept beside a log; null where none is. */
export type KeptSecrets = { readonly secret: string | null; readonly identity: string | null };

/** Reads what is kept in `directory`, and makes nothing. Rejects with the system's error. */
export const readKeptSecrets = async (directory: string): Promise<KeptSecrets> => ({
  secret: (await readExisting(join(directory, FILE)))?.trim() ?? null,
  identity: await readExisting(join(directory, IDENTITY_FILE)),
});

/** Keeps secrets in `directory` where it has none. Rejects with DeliverySecretError. */
export const keepSecrets = async (directory: string, { secret, identity }: KeptSecrets): Promise<void> => {
  if (secret !== null) await loadSecret(directory, FILE, secret, MIN_LENGTH);
  if (identity !== null) await loadSecret(directory, IDENTITY_FILE, identity, 1);
};

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
