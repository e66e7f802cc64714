import { createMemoryStore } from '../dispatch/memory-store.ts';
import type { Store } from '../dispatch/store.ts';
import { NO_FILTERS, type WebhookType } from '../dispatch/webhook.ts';
import type { Webhooks } from '../dispatch/webhooks.ts';
import { type RunningService, startService } from '../server.ts';
import type { Block, Hex } from '../types.ts';
import { Counter, createFaultsRoute, createStatsRoute, Faults, isAdminPath, type Stats } from './admin.ts';
import { ChainSimulator } from './chain/simulator.ts';
import { DEMO_SUBSCRIBERS, DEMO_WALLETS, type DemoWallet } from './chain/wallet-profiles.ts';

/** The webhooks that exist from the first block, one of each type. Their ids are the same at every start. */
export const DEMO_WEBHOOKS = [
  { id: '019a7b1c-5c00-7d1e-8a30-6b1f0c2e9d41', type: 'transactions', name: 'Demo: transactions' },
  { id: '019a7b1c-5c01-7e2f-9b41-7c2a1d3f0e52', type: 'activities', name: 'Demo: activities' },
  { id: '019a7b1c-5c02-7f30-ac52-8d3b2e401f63', type: 'balances', name: 'Demo: balance changes' },
] as const satisfies readonly { id: string; type: WebhookType; name: string }[];

export type SandboxOptions = {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: a free port. */
  readonly port?: number;
  /** Default: `sandbox`. */
  readonly apiKey?: string;
  /** The header that carries the key. Default: `X-Service-Api-Key`. */
  readonly keyHeader?: string;
  /** The seed of the history and the live blocks. Default: `sandbox`. */
  readonly seed?: string;
  /** Milliseconds between two live blocks of a chain. Default: 2,000. */
  readonly blockMs?: number;
  /** Whether clients can inject faults over HTTP. Default: false. */
  readonly faults?: boolean;
  /** The clock, in milliseconds since 1970. Default: the system's clock. */
  readonly now?: () => number;
  /** Milliseconds that a webhook's url has to answer a delivery; see WebhooksOptions. */
  readonly deliveryTimeoutMs?: number;
  /** Milliseconds before a delivery's first retry, doubled for each further one. Default: 1,000. */
  readonly retryBaseMs?: number;
  /** The secret that signs deliveries. Default: deliveries are unsigned. */
  readonly signatureSecret?: string;
  readonly log?: (message: string, details: Readonly<Record<string, unknown>>) => void;
};

/** A running sandbox: the service over simulated chains. All of its state is in memory, and is lost when it stops. */
export type Sandbox = Pick<RunningService, 'url' | 'ask'> & {
  readonly apiKey: string;
  /** The wallets with data. */
  readonly wallets: readonly DemoWallet[];
  readonly simulator: ChainSimulator;
  readonly webhooks: Webhooks;
  /** Injected faults. Within this process they work also when `faults` is off. */
  readonly faults: Faults;
  stats(): Stats;
  /** Makes the next block of a chain, and delivers its events. */
  mine(chainId: number): Block;
  /** Makes the next block of every live chain. */
  tick(): readonly Block[];
  /** Starts the clock, which makes live blocks from then on. */
  startClock(): void;
  /** Points the demo webhooks that still exist at a url: the same for all, or one for each id. */
  connectDemo(url: string | ((webhookId: string) => string)): void;
  /** Connects the demo webhooks and starts the clock, so that they deliver from the first block on. */
  start(deliveryUrl: string | ((webhookId: string) => string)): void;
  /** Ends connections, deliveries and blocks. Resolves when all of them have ended. */
  stop(): Promise<void>;
};

/**
 * Starts the sandbox with its history. Live blocks begin with `startClock`.
 * @throws when the port is taken or the host is not this machine's.
 */
export const startSandbox = async (options: SandboxOptions = {}): Promise<Sandbox> => {
  const { apiKey = 'sandbox', seed = 'sandbox', blockMs = 2_000, now = Date.now } = options;

  let url = '';
  const simulator = new ChainSimulator({ seed, now, blockMs, baseUrl: () => url });
  const store = createMemoryStore(now);
  createDemoWebhooks(store, DEMO_SUBSCRIBERS);
  const faults = new Faults();
  const counter = new Counter();
  const service = await startService(simulator, {
    ...options,
    apiKey,
    cursorSecret: `${apiKey}/${seed}`,
    store,
    retries: { firstMs: options.retryBaseMs ?? 1_000, factor: 2 },
    maxPending: 1_000,
    headerPrefix: 'x-sandbox',
    extras: {
      routes: [createStatsRoute(counter), createFaultsRoute(options.faults === true ? faults : null)],
      faultOf: ({ method, path }) => (isAdminPath(path) ? null : faults.match(method, path)),
      answered({ method, path }, operation, computeUnits) {
        if (!isAdminPath(path)) counter.count(method, operation, computeUnits);
      },
    },
  });
  url = service.url;

  const connectDemo: Sandbox['connectDemo'] = (destination) => {
    for (const { id } of DEMO_WEBHOOKS)
      store.update(id, { url: typeof destination === 'string' ? destination : destination(id) });
  };
  return {
    url,
    ask: service.ask,
    apiKey,
    wallets: DEMO_WALLETS,
    simulator,
    webhooks: service.webhooks,
    faults,
    stats: () => counter.stats,
    mine: (chainId) => simulator.mine(chainId),
    tick: () => simulator.tick(),
    startClock: () => void simulator.start(),
    connectDemo,
    start(deliveryUrl) {
      connectDemo(deliveryUrl);
      void simulator.start();
    },
    async stop() {
      await simulator.stop();
      await service.stop();
    },
  };
};

/** Creates the demo webhooks. They are active, but deliver nothing until they get a url. */
const createDemoWebhooks = (store: Store, addresses: readonly Hex[]): void => {
  for (const { id, type, name } of DEMO_WEBHOOKS)
    store.create({ type, addresses, settings: { name, url: null, active: true, ...NO_FILTERS } }, id);
};

/** The configuration of a sandbox that runs as its own process. */
export type SandboxConfig = {
  readonly host: string;
  readonly port: number;
  readonly apiKey: string;
  readonly blockMs: number;
  readonly seed: string;
  readonly faults: boolean;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the configuration, or returns every problem with its variable's name. An empty variable counts as absent. */
export const readSandboxConfig = (environment: Environment): SandboxConfig | readonly string[] => {
  const problems: string[] = [];
  const read = (name: string, otherwise: string) => environment[name] || otherwise;
  const whole = (name: string, otherwise: number, least: number, most: number) => {
    const value = read(name, String(otherwise));
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= least && number <= most) return number;
    problems.push(`${name}: expected a whole number from ${least} to ${most}, got "${value}"`);
    return otherwise;
  };

  const faults = read('SANDBOX_FAULTS', 'off');
  if (faults !== 'on' && faults !== 'off')
    problems.push(`SANDBOX_FAULTS: expected on or off, got "${faults}"`);
  const apiKey = read('SANDBOX_API_KEY', 'sandbox');
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    problems.push('SANDBOX_API_KEY: expected printable ASCII without spaces, so that a header can carry it');
  const config = {
    host: read('HOST', '127.0.0.1'),
    port: whole('PORT', 4_100, 0, 65_535),
    apiKey,
    blockMs: whole('SANDBOX_BLOCK_MS', 2_000, 10, 3_600_000),
    seed: read('SANDBOX_SEED', 'sandbox'),
    faults: faults === 'on',
  };
  return problems.length > 0 ? problems : config;
};
