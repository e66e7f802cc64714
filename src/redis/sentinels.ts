import { createClient } from '@redis/client';
import { raceWithTimeout } from '../lib/deadlines.ts';
import { messageOf } from '../lib/values.ts';
import { RESP, type RedisTimes, settingsOf } from './client.ts';

/**
 * Asks all Sentinels at once for the primary, and resolves with its URL: the one that more than half of them name, or when
 * they do not within `waitMs`, the one that most of them have named. So a Sentinel that has missed a failover is
 * outvoted. Rejects when no Sentinel answers, none knows the name, or the signal aborts.
 */
export const askSentinels = async (
  { sentinels, name, primaryUrl }: SentinelUrl,
  waitMs: number,
  signal: AbortSignal,
): Promise<string> => {
  const clients = sentinels.map((url) => createSentinel(url, waitMs));
  const votes = new Map<string, number>();
  const { promise: agreed, resolve: agree } = Promise.withResolvers<void>();
  let isUnknown = false;
  let failure: unknown = null;
  const asked = clients.map(async (client) => {
    try {
      await client.connect();
      const reply = await client.sendCommand(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name]);
      if (!Array.isArray(reply)) {
        isUnknown = true;
        return;
      }
      const url = primaryUrl(String(reply[0]), String(reply[1]));
      const count = (votes.get(url) ?? 0) + 1;
      votes.set(url, count);
      if (count > sentinels.length / 2) agree();
    } catch (error) {
      failure ??= error;
    }
  });
  await raceWithTimeout(Promise.race([agreed, Promise.all(asked)]), waitMs, signal);
  for (const client of clients) client.destroy();
  const [most] = [...votes].toSorted(([, one], [, other]) => other - one);
  if (most !== undefined) return most[0];
  if (isUnknown) throw new Error(`no Sentinel knows a primary named ${name}`);
  throw new Error(`no Sentinel answers: ${failure === null ? 'no reply in time' : messageOf(failure)}`);
};

const createSentinel = (url: string, waitMs: number) => {
  const times = { commandMs: waitMs, connectMs: waitMs, silentMs: waitMs, pingMs: waitMs };
  return createClient({ url, RESP, ...settingsOf({ times, isReopening: () => false }) }).on(
    'error',
    () => {},
  );
};

/**
 * Calls `onSwitch` with the URL of the new primary whenever a Sentinel announces one, so that the former one, which takes
 * writes until it is told, is left at once. A Sentinel that is down is tried again until `close`.
 */
export const watchSentinels = (
  { sentinels, name, primaryUrl }: SentinelUrl,
  times: RedisTimes,
  onSwitch: (url: string) => void,
): { close(): void } => {
  let isClosed = false;
  const clients = sentinels.map((url) =>
    createClient({ url, RESP, ...settingsOf({ times, isReopening: () => !isClosed }) }).on('error', () => {}),
  );
  const watch = async (client: (typeof clients)[number]): Promise<void> => {
    await client.connect();
    await client.subscribe('+switch-master', (message) => {
      const [switched, , , host = '', port = ''] = message.split(' ');
      if (switched === name) onSwitch(primaryUrl(host, port));
    });
  };
  // Without its announcements, a connection that is lost or refused shows a failover.
  for (const client of clients) watch(client).catch(() => {});
  return {
    close() {
      isClosed = true;
      for (const client of clients) client.destroy();
    },
  };
};

/** Where Sentinels are, and which primary they are asked for. */
export type SentinelUrl = {
  /** A URL of each Sentinel, with the user and the password that Sentinels want. */
  readonly sentinels: readonly string[];
  /** Their hosts and ports, to be shown. */
  readonly hosts: readonly string[];
  /** The name that the Sentinels know the primary by. */
  readonly name: string;
  /** The URL of the primary at this host and port, with its user, its password and the database. */
  readonly primaryUrl: (host: string, port: string) => string;
};

const FORM =
  /^(?<scheme>rediss?)\+sentinel:\/\/(?:(?<user>[^@/?#]*)@)?(?<hosts>[^@/?#]+)\/(?<name>[^/?#]+)(?:\/(?<database>\d{0,3}))?(?:\?(?<query>[^#]*))?$/;
const DEFAULT_PORT = '26379';
const PARAMETERS = ['sentinel_username', 'sentinel_password'];

/**
 * Reads `redis+sentinel://user:password@host:port,host2:port2/name/database`; null for any other form. The user and the
 * password are those of the primary. The query's `sentinel_username` and `sentinel_password` are those of the Sentinels.
 * `rediss+sentinel://` uses TLS for both.
 */
export const parseSentinelUrl = (text: string): SentinelUrl | null => {
  const {
    scheme = '',
    user = '',
    hosts = '',
    name = '',
    database = '',
    query = '',
  } = FORM.exec(text)?.groups ?? {};
  const parameters = new URLSearchParams(query);
  const listed = hosts.split(',').map((host) => hostIn(`${scheme}://${host}`));
  if (scheme === '' || listed.includes(null) || !isDecodable(name) || !isDecodable(user)) return null;
  if ([...parameters.keys()].some((key) => !PARAMETERS.includes(key))) return null;
  const known = listed.filter((host) => host !== null);
  const [username, password] = PARAMETERS.map((key) => encodeURIComponent(parameters.get(key) ?? ''));
  const access = username || password ? `${username}:${password}@` : '';
  return {
    sentinels: known.map((host) => `${scheme}://${access}${host}`),
    hosts: known,
    name: decodeURIComponent(name),
    primaryUrl: (host, port) =>
      `${scheme}://${user && `${user}@`}${host.includes(':') ? `[${host}]` : host}:${port}/${database}`,
  };
};

/** The host and port of a URL that has nothing else; null otherwise. */
const hostIn = (url: string): string | null => {
  const { hostname = '', port = '', pathname = '' } = URL.parse(url) ?? {};
  return hostname === '' || pathname.length > 1 ? null : `${hostname}:${port || DEFAULT_PORT}`;
};

const isDecodable = (text: string): boolean => {
  try {
    return decodeURIComponent(text) !== '' || text === '';
  } catch {
    return false;
  }
};
