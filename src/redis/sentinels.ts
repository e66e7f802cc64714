import { createClient } from '@redis/client';
import { raceWithTimeout } from '../lib/deadlines.ts';
import { messageOf } from '../lib/values.ts';
import { RESP, type RedisTimes, settingsOf } from './client.ts';
import type { SentinelUrl } from './sentinel-url.ts';

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
