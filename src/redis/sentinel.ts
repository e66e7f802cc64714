import { createClient, ErrorReply } from '@redis/client';
import { raceWithTimeout, sleep } from '../lib/deadlines.ts';
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
import { askSentinels, watchSentinels } from './sentinels.ts';

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
