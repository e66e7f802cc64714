import type { Environment } from '../config/variable.ts';
import {
  DeliverySecretError,
  type KeptSecrets,
  keepSecrets,
  readKeptSecrets,
} from '../deliveries/ingress/delivery-url.ts';
import { copyLog, LogTransferError, reopenLog } from '../deliveries/log/copy.ts';
import { LogOpenError, LogUnavailableError } from '../deliveries/log/errors.ts';
import { describeFence } from '../deliveries/log/fence.ts';
import type { TenantLog, TenantReader, WholeDelivery } from '../deliveries/log/offline-log.ts';
import { messageOf } from '../lib/errors.ts';
import { type OpenedPlace, openPlace, openReader, placeOf } from './log-places.ts';
import { CommandError, type LogCommand } from './options.ts';

/** Where a command writes. */
export type Output = {
  /** What it was asked for. */
  readonly result: (text: string) => Promise<void>;
  /** How far it is. */
  readonly progress: (text: string) => void;
};

const PROGRESS_MS = 2000;

/** Runs a command on a delivery log. Rejects with CommandError or ConfigError when it can't be done. */
export const runLogCommand = async (command: LogCommand, env: Environment, output: Output): Promise<void> => {
  const opened = new AsyncDisposableStack();
  try {
    await run(command, env, output, opened);
  } catch (error) {
    throw (await isForUser(error)) ? new CommandError(messageOf(error), { cause: error }) : error;
  } finally {
    await opened.disposeAsync();
  }
};

const FOR_USERS = [LogTransferError, LogOpenError, LogUnavailableError, DeliverySecretError];

const isForUser = async (error: unknown): Promise<boolean> => {
  if (FOR_USERS.some((one) => error instanceof one)) return true;
  const { RedisReplyError, RedisUnavailableError } = await import('../redis/client.ts');
  return error instanceof RedisReplyError || error instanceof RedisUnavailableError;
};

const run = async (
  command: LogCommand,
  env: Environment,
  output: Output,
  opened: AsyncDisposableStack,
): Promise<void> => {
  if (command.name === 'copy') return copy(command, env, output, opened);
  if (command.name === 'backup' || command.name === 'restore') return backUpOrRestore(command, env, output);
  if (command.name === 'export') return exportTenant(command, env, output, opened);
  if (command.name === 'delete') return deleteTenant(command, env, output, opened);
  const { log } = await openPlace(
    placeOf(command.log, env),
    { creates: false, besideGateways: false },
    opened,
  );
  await reopenLog(log, command.isForced);
  await output.result(`Gateways can use ${log.name} again.\n`);
};

const copy = async (
  { from, to }: Extract<LogCommand, { name: 'copy' }>,
  env: Environment,
  output: Output,
  opened: AsyncDisposableStack,
): Promise<void> => {
  const [source, target] = [from, to].map((text) => placeOf(text, env));
  if (source === undefined || target === undefined || (source.redis === null) === (target.redis === null))
    throw new LogTransferError('Expected a folder and a Redis to copy between, got two of one kind.');
  const read = await openPlace(source, { creates: false, besideGateways: false }, opened);
  const written = await openPlace(target, { creates: true, besideGateways: false }, opened);
  const progress = { tenants: 0, deliveries: 0, bytes: 0 };
  const startedAt = performance.now();
  const figures = () => {
    const seconds = (performance.now() - startedAt) / 1000;
    const { tenants, deliveries, bytes } = progress;
    return `${deliveries} deliveries (${(bytes / 1e6).toFixed(1)} MB) of ${tenants} tenants in ${seconds.toFixed(1)} s, ${Math.round(deliveries / seconds)} a second`;
  };
  const timer = setInterval(() => output.progress(`Copied ${figures()} …\n`), PROGRESS_MS);
  try {
    await copyLog({ from: read.log, to: written.log, beside: secretsOf(read, written), progress });
  } finally {
    clearInterval(timer);
  }
  await output.result(
    `Copied ${figures()}.\n${written.log.name} is complete: start the gateways there. ${read.log.name} takes no more deliveries.\n`,
  );
};

const expectSameSecrets = (to: string, found: KeptSecrets, from: string, kept: KeptSecrets): void => {
  for (const name of ['secret', 'identity'] as const)
    if (found[name] !== null && found[name] !== kept[name])
      throw new LogTransferError(
        `${to}: expected no delivery ${name} or that of ${from}, found another one: remove it (gateway:${name}, or the file delivery-${name}) if nothing else uses it`,
      );
};

/** The secrets make delivery URLs, the tenants of keys, and the cursors of lists. */
const secretsOf = (from: OpenedPlace, to: OpenedPlace) => ({
  check: async () =>
    expectSameSecrets(to.log.name, await to.readSecrets(), from.log.name, await from.readSecrets()),
  copy: async () => to.keepSecrets(await from.readSecrets()),
});

const backUpOrRestore = async (
  { name, file }: Extract<LogCommand, { name: 'backup' | 'restore' }>,
  env: Environment,
  { result }: Output,
): Promise<void> => {
  const { redis, dataDir } = placeOf(env.REDIS_URL ? 'REDIS_URL' : 'DATA_DIR', env);
  if (redis !== null)
    throw new LogTransferError(
      name === 'backup'
        ? 'Expected a log in DATA_DIR, got REDIS_URL: a log in Redis is backed up in the ways of Redis, see docs/delivery-log.md'
        : 'Expected a log in DATA_DIR, got REDIS_URL: restore to a folder without that variable, then "log copy" to Redis',
    );
  const { backUp, restore } = await import('../deliveries/sqlite/backup.ts');
  if (name === 'backup') {
    const { bytes } = await backUp(dataDir, file, await readKeptSecrets(dataDir));
    await result(`Backed up ${dataDir} to ${file}: ${(bytes / 1e6).toFixed(1)} MB.\n`);
  } else {
    const { deliveries } = await restore(file, dataDir, ({ secret = null, identity = null }) =>
      keepTheSame(dataDir, { secret, identity }),
    );
    await result(
      `Restored ${deliveries} deliveries of ${file} to ${dataDir}. Subscribers with older cursors are told CURSOR_EXPIRED.\n`,
    );
  }
};

/** Keeps secrets in a folder that has none, or the same. */
const keepTheSame = async (dataDir: string, secrets: KeptSecrets): Promise<void> => {
  expectSameSecrets(dataDir, await readKeptSecrets(dataDir), 'the backup', secrets);
  await keepSecrets(dataDir, secrets);
};

/** The tenant as it is written in its delivery URL, and its place: by default that of the gateway with this environment. */
const tenantAndPlace = (
  { tenant, log }: { readonly tenant: string; readonly log: string | null },
  env: Environment,
) => {
  const place = placeOf(log ?? (env.REDIS_URL ? 'REDIS_URL' : 'DATA_DIR'), env);
  try {
    return { name: decodeURIComponent(tenant), place };
  } catch {
    throw new LogTransferError(`Expected a tenant as its delivery URL has it, got ${tenant}`);
  }
};

const exportTenant = async (
  command: Extract<LogCommand, { name: 'export' }>,
  env: Environment,
  { result, progress }: Output,
  opened: AsyncDisposableStack,
): Promise<void> => {
  const { name, place } = tenantAndPlace(command, env);
  const log = await openReader(place, opened);
  const { head, floor } = await logOf(log, name);
  let count = 0;
  // What is stored meanwhile is not exported, so this ends.
  for (let after = floor; after < head; ) {
    const deliveries = (await log.deliveries(name, after)).filter(({ sequence }) => sequence <= head);
    if (deliveries.length === 0) break;
    await result(deliveries.map(lineOf).join(''));
    count += deliveries.length;
    after = deliveries.at(-1)?.sequence ?? head;
  }
  progress(`Exported ${count} deliveries of ${log.name}.\n`);
};

const logOf = async (log: TenantReader, tenant: string): Promise<TenantLog> => {
  const found = await log.tenant(tenant);
  if (found === null)
    throw new LogTransferError(`${log.name}: expected a tenant that has had deliveries, got ${tenant}`);
  return found;
};

const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A body is text with exactly its bytes, so no number loses digits; in Base64 where it is not UTF-8. */
const bodyOf = (body: Uint8Array): { readonly body: string } | { readonly bodyBase64: string } => {
  try {
    return { body: text.decode(body) };
  } catch {
    return { bodyBase64: Buffer.from(body).toString('base64') };
  }
};

const lineOf = ({ body, receivedAt, dispatchedAt, storedAt: _, ...delivery }: WholeDelivery): string => {
  const times = {
    receivedAt: new Date(receivedAt).toISOString(),
    dispatchedAt: dispatchedAt === null ? null : new Date(dispatchedAt).toISOString(),
  };
  return `${JSON.stringify({ ...delivery, ...times, ...bodyOf(body) })}\n`;
};

const deleteTenant = async (
  command: Extract<LogCommand, { name: 'delete' }>,
  env: Environment,
  { result }: Output,
  opened: AsyncDisposableStack,
): Promise<void> => {
  const { name, place } = tenantAndPlace(command, env);
  const { log } = await openPlace(place, { creates: false, besideGateways: true }, opened);
  const fence = await log.fence();
  if (fence !== null) throw new LogTransferError(`${log.name}: ${describeFence(fence)}`);
  await logOf(log, name);
  const dropped = await log.drop(name);
  await log.flush();
  await result(
    `Deleted ${dropped} deliveries of ${log.name}. Subscribers that had not read them are told CURSOR_EXPIRED.\n`,
  );
};
