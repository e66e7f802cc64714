import { createClient, ErrorReply } from '@redis/client';
import { raceWithTimeout } from '../lib/abort.ts';
import { RESP, type RedisTimes, settingsOf } from './client.ts';

/** A channel, and what is called with each message of it. */
export type Subscription = readonly [channel: string, listener: (message: string) => void];

type Options = {
  readonly url: string;
  readonly times: RedisTimes;
  /** Is called whenever one of the connections fails, also before they are open. */
  readonly onFailed: (error: unknown) => void;
};

/** The connections to one primary: for commands, and for messages. One that is lost is never opened again. */
export class Primary {
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

  /** Rejects when it is no primary, does not answer in time, fails, or the signal aborts. */
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

  /** A user that may not ask learns by the first write. */
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
