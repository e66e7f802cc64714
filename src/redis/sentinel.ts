import { createClient, ErrorReply } from '@redis/client';
import { raceWithTimeout, sleep } from '../lib/deadlines.ts';
import { messageOf } from '../lib/errors.ts';
import {
  pauseMs,
  RESP,
  type RedisArgument,
  type RedisClient,
  type RedisClientOptions,
  type RedisNode,
  type RedisTimes,
  settingsOf,
} from './client.ts';
import type { SentinelUrl } from './sentinel-url.ts';

/** The only connection that an observer hears of. */
const NAME = 'primary';

/**
 * The client of the primary that Sentinels name. A connection that is lost is not opened again by itself: the Sentinels are
 * asked first, because there may be another primary by then. The library's own Sentinel client would repeat commands and
 * hide a change of connections, after which WAIT says nothing about earlier writes.
 */
export class SentinelClient implements RedisClient {
  readonly #sentinel: SentinelUrl;
  readonly #options: RedisClientOptions;
  readonly #subscriptions: Subscription[] = [];
  readonly #destroyed = new AbortController();
  #primary: Primary | null = null;
  #watch: { close(): void } | null = null;
  /** The URL of the primary that was announced while another one was being connected to. */
  #announced: string | null = null;

  constructor(sentinel: SentinelUrl, options: RedisClientOptions) {
    this.#sentinel = sentinel;
    this.#options = options;
  }

  /** One attempt: finds the primary, connects to it, and subscribes to what was subscribed before. */
  async connect(): Promise<void> {
    const { times, onError, onReady } = this.#options;
    const { signal } = this.#destroyed;
    this.#announced = null;
    const url = await askSentinels(this.#sentinel, times.connectMs / 2, signal);
    const primary = new Primary({
      url,
      times,
      onFailed: (error) => {
        onError(error);
        this.#lose(primary);
      },
    });
    await primary.open(this.#subscriptions, signal);
    if (this.#announced !== null && this.#announced !== url) {
      primary.destroy();
      throw new Error('the Sentinels have named another primary meanwhile');
    }
    this.#primary = primary;
    this.#watch ??= watchSentinels(this.#sentinel, times, (announced) => this.#switch(announced));
    onReady(NAME);
  }

  async send(_key: string | null, args: readonly RedisArgument[]): Promise<unknown> {
    return this.#connected.commands.sendCommand([...args]);
  }

  async nodeOf(): Promise<RedisNode> {
    return this.#connected.commands;
  }

  async primaries(): Promise<readonly RedisNode[]> {
    return [this.#connected.commands];
  }

  async subscribe(...subscription: Subscription): Promise<void> {
    await this.#connected.subscribe(subscription);
    this.#subscriptions.push(subscription);
  }

  reconnect(): void {
    this.#options.onError(new Error('it is no primary any more'));
    this.#lose(this.#primary);
  }

  destroy(): void {
    this.#destroyed.abort();
    this.#watch?.close();
    this.#primary?.destroy();
    this.#primary = null;
  }

  get #connected(): Primary {
    if (this.#primary === null) throw new Error('there is no connection to a primary');
    return this.#primary;
  }

  #switch(url: string): void {
    this.#announced = url;
    if (this.#primary?.url === url) return;
    this.#options.onError(new Error('the Sentinels have named another primary'));
    this.#lose(this.#primary);
  }

  #lose(primary: Primary | null): void {
    if (primary === null || primary !== this.#primary) return;
    this.#primary = null;
    primary.destroy();
    this.#options.onLost(NAME);
    void this.#reopen();
  }

  async #reopen(): Promise<void> {
    const { isReopening, onError } = this.#options;
    const { signal } = this.#destroyed;
    for (let retries = 1; this.#primary === null && isReopening(); retries += 1) {
      await sleep(pauseMs(retries), signal);
      if (!signal.aborted) await this.connect().catch(onError);
    }
  }
}

/** A channel, and what is called with each message of it. */
type Subscription = readonly [channel: string, listener: (message: string) => void];

type Options = {
  readonly url: string;
  readonly times: RedisTimes;
  /** Called whenever one of the connections fails, even before they are open. */
  readonly onFailed: (error: unknown) => void;
};

/** The connections to one primary: for commands, and for messages. One that is lost is never opened again. */
class Primary {
  readonly url: string;
  readonly commands;
  readonly #messages;
  readonly #times: RedisTimes;
  /** Rejects with the first failure. */
  readonly #failed = Promise.withResolvers<never>();
  #isDestroyed = false;

  constructor({ url, times, onFailed }: Options) {
    const onError = (error: unknown): void => {
      if (this.#isDestroyed) return;
      this.#failed.reject(error);
      onFailed(error);
    };
    const create = () =>
      createClient({ url, RESP, ...settingsOf({ times, isReopening: () => false }) }).on('error', onError);
    this.#failed.promise.catch(() => {});
    this.url = url;
    this.#times = times;
    this.commands = create();
    this.#messages = create();
  }

  /** Rejects if it is not a primary, does not answer in time, fails, or the signal aborts. */
  async open(subscriptions: readonly Subscription[], signal: AbortSignal): Promise<void> {
    const { connectMs } = this.#times;
    const opened = Promise.race([this.#open(subscriptions), this.#failed.promise]);
    try {
      if ((await raceWithTimeout(opened, connectMs, signal)) !== 'settled')
        throw new Error(`the primary has not answered within ${connectMs} ms`);
      await opened;
    } catch (error) {
      this.destroy();
      throw error;
    }
  }

  async subscribe([channel, listener]: Subscription): Promise<void> {
    await this.#messages.subscribe(channel, listener);
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.commands.destroy();
    this.#messages.destroy();
  }

  async #open(subscriptions: readonly Subscription[]): Promise<void> {
    await Promise.all([this.commands.connect(), this.#messages.connect()]);
    const role = await this.#role();
    if (role !== 'master') throw new Error(`expected a primary, got a Redis with the role ${role}`);
    for (const subscription of subscriptions) await this.subscribe(subscription);
  }

  /** For a user that may not ask, the first write shows it. */
  async #role(): Promise<string> {
    try {
      const reply = await this.commands.sendCommand(['ROLE']);
      return Array.isArray(reply) ? String(reply[0]) : 'unknown';
    } catch (error) {
      if (error instanceof ErrorReply && error.message.startsWith('NOPERM')) return 'master';
      throw error;
    }
  }
}

/**
 * Asks all Sentinels at once for the primary, and resolves with its URL: the one that more than half of them name, or when
 * they do not within `waitMs`, the one that most of them have named. So a Sentinel that has missed a failover is
 * outvoted. Rejects when no Sentinel answers, none knows the name, or the signal aborts.
 */
const askSentinels = async (
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
const watchSentinels = (
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
