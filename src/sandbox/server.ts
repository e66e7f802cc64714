import { createServer } from 'node:http';
import { ChainSimulator } from './chain/simulator.ts';
import { DEMO_SUBSCRIBERS } from './demo-wallets.ts';
import { createFaultsRoute, createStatsRoute } from './http/admin-routes.ts';
import { Faults } from './http/faults.ts';
import { createService } from './http/handler.ts';
import { listen } from './http/node-http.ts';
import { Counter, type Stats } from './http/stats.ts';
import { createCollectiblesRoute } from './lookups/collectibles.ts';
import { Cursors } from './lookups/cursors.ts';
import { createImageRoute } from './lookups/image.ts';
import { createLogoRoute, logoPath } from './lookups/logo.ts';
import { createTransactionsRoute } from './lookups/transactions.ts';
import type { Block, Hex } from './types.ts';
import { createWebhooks, type Webhooks } from './webhooks/webhooks.ts';

export type SandboxOptions = {
  /** 127.0.0.1 unless given. */
  readonly host?: string;
  /** A free one unless given. */
  readonly port?: number;
  /** `sandbox` unless given. */
  readonly apiKey?: string;
  /** The header that carries the key; `X-Service-Api-Key` unless given. */
  readonly keyHeader?: string;
  /** What decides the history and the blocks; `sandbox` unless given. */
  readonly seed?: string;
  /** Between two blocks once the clock runs; 2,000 unless given. */
  readonly blockMs?: number;
  /** Whether requests can be made to go wrong over HTTP; they can't unless true. */
  readonly faults?: boolean;
  /** Milliseconds since 1970; the system's clock unless given. */
  readonly now?: () => number;
  /** How long a webhook's url may take; see the webhooks. */
  readonly deliveryTimeoutMs?: number;
  /** The pause before a delivery's first retry; see the webhooks. */
  readonly retryBaseMs?: number;
  /** Signs deliveries; unsigned unless given. */
  readonly signatureSecret?: string;
  readonly log?: (message: string, details: Readonly<Record<string, unknown>>) => void;
};

/** A service of one's own: all of its state is in memory, and gone once it stops. */
export type Sandbox = {
  /** Without a trailing slash. */
  readonly url: string;
  readonly apiKey: string;
  readonly simulator: ChainSimulator;
  readonly webhooks: Webhooks;
  /** In this process they work whether or not they were switched on. */
  readonly faults: Faults;
  stats(): Stats;
  /** Makes the next block of a chain, and delivers its events. */
  mine(chainId: number): Block;
  /** Makes the next block of every live chain. */
  tick(): readonly Block[];
  /** From now on blocks come by themselves. */
  startClock(): void;
  /** Points the demo webhooks at a url: the same, or one for each id. */
  connectDemo(url: string | ((webhookId: string) => string)): void;
  /** Both of these: the demo webhooks deliver from the first block on. */
  start(deliveryUrl: string | ((webhookId: string) => string)): void;
  /** Ends connections, deliveries and blocks. */
  stop(): Promise<void>;
};

/**
 * Starts the service, with its history and without blocks: see `startClock`.
 * @throws when the port is taken or the host is not this machine's.
 */
export const startSandbox = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  const { host = '127.0.0.1', port = 0, apiKey = 'sandbox', keyHeader = 'X-Service-Api-Key' } = options;
  const { seed = 'sandbox', blockMs = 2_000, now = Date.now, log = () => {} } = options;

  let url = '';
  const logoUrl = (chainId: number, token: Hex | null) => `${url}${logoPath(chainId, token)}`;
  const simulator = new ChainSimulator({ seed, now, logoUrl });
  const { deliveryTimeoutMs, retryBaseMs, signatureSecret } = options;
  const webhooks = createWebhooks({
    simulator,
    now,
    demoAddresses: DEMO_SUBSCRIBERS,
    log,
    ...(deliveryTimeoutMs !== undefined && { deliveryTimeoutMs }),
    ...(retryBaseMs !== undefined && { retryBaseMs }),
    ...(signatureSecret !== undefined && { signatureSecret }),
  });
  simulator.onBlock((block) => webhooks.handleBlock(block));

  const faults = new Faults();
  const counter = new Counter();
  const stopping = new AbortController();
  const lookups = { simulator, now, cursors: new Cursors(`${apiKey}/${seed}`) };
  const server = createServer(
    createService({
      routes: [
        createTransactionsRoute(lookups),
        createCollectiblesRoute({ ...lookups, baseUrl: () => url }),
        createImageRoute(simulator),
        createLogoRoute(simulator),
        webhooks.route,
        createStatsRoute(counter),
        createFaultsRoute(options.faults === true ? faults : null),
      ],
      keyHeader: keyHeader.toLowerCase(),
      apiKey,
      faults,
      counter,
      log,
      stopped: stopping.signal,
    }),
  );
  url = await listen(server, host, port);

  let clock: NodeJS.Timeout | undefined;
  const sandbox: Sandbox = {
    url,
    apiKey,
    simulator,
    webhooks,
    faults,
    stats: () => counter.stats,
    mine: (chainId) => simulator.mine(chainId),
    tick: () => simulator.tick(),
    startClock() {
      clock ??= setInterval(() => simulator.tick(), blockMs);
    },
    connectDemo: (deliveryUrl) => webhooks.connectDemo(deliveryUrl),
    start(deliveryUrl) {
      sandbox.connectDemo(deliveryUrl);
      sandbox.startClock();
    },
    async stop() {
      clearInterval(clock);
      stopping.abort();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await Promise.all([closed, webhooks.stop()]);
    },
  };
  return sandbox;
};
