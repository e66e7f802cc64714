import { readFile, stat } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { Chain, Hex } from '../../types.ts';
import { createFetcher } from './fetch.ts';
import { type PriceList, parsePrices } from './price-list.ts';

/** Prices from outside: a JSON file, or a URL that returns one. */
export type Prices = {
  /**
   * The price of a whole unit in dollars at a time in milliseconds since 1970; null when it has none then. A null token is the
   * chain's native asset. A price counts from when it was first read, and an hour before, until another is read.
   */
  price(chainId: number, token: Hex | null, time: number): number | null;
  /** Ends the reading. */
  close(): Promise<void>;
};

type PricesOptions = {
  /** A path, or an http or https URL. */
  readonly source: string;
  /** The chains whose assets are priced. */
  readonly chains: readonly Pick<Chain, 'id' | 'name' | 'native'>[];
  readonly log: (message: string, details: Readonly<Record<string, unknown>>) => void;
  /** Called when prices were read that may be others. */
  readonly onChange?: () => void;
  /** Milliseconds between two readings. Default: a second for a file, which is read only if it has changed, a minute for a URL. */
  readonly everyMs?: number;
  /** The clock, in milliseconds since 1970. Default: the system's clock. */
  readonly now?: () => number;
};

const HOUR_MS = 3_600_000;
const MAX_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

/** Reads the source; null while it is as it was. */
type Reader = { read(): Promise<string | null>; readonly name: string; close(): Promise<void> };

const urlReader = (url: URL): Reader => {
  const fetcher = createFetcher({ maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, publicOnly: false });
  return {
    name: `${url.protocol}//${url.host}`,
    read: async () => (await fetcher.get(url)).body.toString(),
    close: () => fetcher.close(),
  };
};

const fileReader = (path: string): Reader => {
  let last = '';
  return {
    name: path,
    async read() {
      const { size, mtimeMs, ino } = await stat(path);
      const version = [size, mtimeMs, ino].join();
      if (version === last) return null;
      if (size > MAX_BYTES) throw new Error(`expected at most ${MAX_BYTES} bytes, got ${size}`);
      const text = await readFile(path, 'utf8');
      last = version;
      return text;
    },
    close: async () => {},
  };
};

/**
 * Reads prices now, and then periodically. Resolves after the first reading, even a failed one: a failure is one log line, and the
 * last prices that could be read stay.
 */
export const openPrices = async (options: PricesOptions): Promise<Prices> => {
  const { source, chains, log, now = Date.now, onChange = () => {} } = options;
  const isUrl = /^https?:\/\//i.test(source);
  const { everyMs = isUrl ? 60_000 : 1_000 } = options;
  const reader = isUrl ? urlReader(new URL(source)) : fileReader(source);
  const known = new Map<string, { readonly price: number; readonly since: number }>();
  let problem = '';

  const apply = (prices: PriceList): void => {
    const since = now() - HOUR_MS;
    for (const asset of known.keys()) if (!prices.has(asset)) known.delete(asset);
    for (const [asset, price] of prices)
      if (known.get(asset)?.price !== price) known.set(asset, { price, since });
  };

  const read = async (): Promise<void> => {
    try {
      const text = await reader.read();
      if (text === null) return;
      apply(parsePrices(text, chains));
      onChange();
      if (problem !== '') log('prices are read again', { source: reader.name });
      problem = '';
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      // Logged once, not at every retry.
      if (message !== problem && !stopping.signal.aborted)
        log('prices could not be read: the last ones stay', { source: reader.name, problem: message });
      problem = message;
    }
  };

  const stopping = new AbortController();
  const { signal } = stopping;
  const readAgainAndAgain = async (): Promise<void> => {
    while (await wait(everyMs, true, { signal, ref: false }).catch(() => false)) await read();
  };

  await read();
  const reading = readAgainAndAgain();
  return {
    price(chainId, token, time) {
      const found = known.get(`${chainId}/${token ?? 'native'}`);
      return found !== undefined && time >= found.since ? found.price : null;
    },
    async close() {
      stopping.abort();
      await reader.close();
      await reading;
    },
  };
};
