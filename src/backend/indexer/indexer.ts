import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createMemoryStore } from '../dispatch/memory-store.ts';
import type { PostWithin } from '../dispatch/sender.ts';
import type { Store } from '../dispatch/store.ts';
import { delivers } from '../dispatch/webhook.ts';
import type { RecordStore } from '../explorer/client/shared-limits.ts';
import type { ExplorerConfig } from '../explorer/config.ts';
import { figuresOf, healthOfExplorer } from '../explorer/figures.ts';
import { createLive } from '../explorer/live/live.ts';
import { createExplorerSources, openClient, openExplorers } from '../explorer/source.ts';
import { type Operation, text } from '../http/http.ts';
import { healthOf, type RunningService, startService } from '../server.ts';
import { joinSources } from '../sources.ts';
import type { Hex } from '../types.ts';
import type { ServiceConfig } from './config.ts';
import { type IndexDatabase, openDatabase } from './database/database.ts';
import { createLiveProgress } from './database/live-progress.ts';
import { createWebhookStore } from './database/webhook-store.ts';
import type { IndexFigures } from './figures.ts';
import type { Log } from './follower/problems.ts';
import { createIndexedSource } from './source.ts';

/** The service over real chains. */
export type IndexedService = Pick<RunningService, 'url' | 'ask'> & {
  /** Begins to follow the chains and to deliver. */
  follow(): void;
  /** @throws when the database can't be read. */
  figures(): IndexFigures;
  /** Resolves when the last answer, delivery and write are done. */
  stop(): Promise<void>;
};

type Options = ServiceConfig & {
  readonly log: Log;
  /** Where the services of several gateways keep the limits of explorers together. Default: each has its own. */
  readonly records?: RecordStore | undefined;
  /** Writes figures as what `/metrics` answers. Default: there is no such operation. */
  readonly expose?: Expose | undefined;
  /** Where the process that embeds it takes deliveries. Default: all are posted over HTTP. */
  readonly postWithin?: PostWithin | undefined;
};

type Expose = (figures: IndexFigures) => Promise<{ readonly type: string; readonly body: string }>;

/**
 * Starts the service over an index, explorers or both. It answers from what is indexed, and follows its chains from `follow` on.
 * Rejects when the folder can't be written or another process uses it, when a file of the configuration can't be used, or the
 * port is taken.
 */
export const startIndexed = async ({
  log,
  expose,
  records,
  postWithin,
  ...config
}: Options): Promise<IndexedService> => {
  const opened = new AsyncDisposableStack();
  try {
    const isStored = config.chains.length > 0 || Boolean(config.explorers?.live);
    const database = isStored ? openAlone(config.directory) : null;
    opened.defer(() => database?.close());
    const store = database === null ? createMemoryStore(Date.now) : createWebhookStore(database, Date.now);
    const index =
      database === null || config.chains.length === 0 ? null : await openIndex(config, database, store, log);
    const explorers = config.explorers
      ? startExplorers(config.explorers, { database, store, log, opened, records })
      : null;
    const source = joinSources([...(index === null ? [] : [index]), ...(explorers?.sources ?? [])], { log });
    const ended = { accepted: 0, retried: 0, abandoned: 0, dropped: 0 };
    const healthOfExplorers = explorers && (() => explorers.figures().map(healthOfExplorer));
    const figures = (): IndexFigures => {
      const chains = index?.chainFigures() ?? [];
      const deliveries = { ...store.deliveries.pending(), ended };
      return {
        health: healthOf(chains, healthOfExplorers?.()),
        ...{ chains, explorers: explorers?.figures() ?? [], deliveries, bytes: bytesIn(config.directory) },
      };
    };
    const operations =
      expose === undefined
        ? source.operations
        : [...source.operations, metricsOf(async () => expose(figures()))];
    const { host, port, apiKey, keyHeader } = config;
    const service = await startService(
      { ...source, operations },
      {
        ...{ host, port, apiKey, keyHeader, store, log },
        // A gateway that embeds this service calls `follow` once it listens.
        isPaused: true,
        postWithin,
        signatureSecret: config.signatureSecret ?? undefined,
        explorers: healthOfExplorers ?? undefined,
        pollingOf: explorers?.live?.pollingOf,
        noWebhooks: config.isOneOfSeveral === true ? NO_WEBHOOKS : null,
        onDeliveryEnd(end) {
          ended[end] += 1;
        },
      },
    ).catch(async (problem: unknown) => {
      await source.stop();
      throw problem;
    });
    opened.defer(() => service.stop());
    // Stop following blocks first, then answering and delivering.
    opened.defer(() => source.stop());
    opened.defer(() => explorers?.live?.stop());
    return {
      url: service.url,
      ask: service.ask,
      follow() {
        service.webhooks.start();
        void source.start();
        explorers?.live?.start(service.webhooks.handleFinding);
      },
      figures,
      stop: () => opened.disposeAsync(),
    };
  } catch (problem) {
    await opened.disposeAsync();
    throw problem;
  }
};

const NO_WEBHOOKS =
  'Webhooks need one service for all gateways: with REDIS_URL beside BLOCKSCOUT each gateway has its own. Start one with `npm run service`, and set UPSTREAM_URL.';

/** Opens the index of chains, beside which webhooks are stored. */
const openIndex = (config: ServiceConfig, database: IndexDatabase, store: Store, log: Log) => {
  const watches = (account: Hex): boolean =>
    [...store.subscribers(account)].some((webhook) => webhook.type === 'balances' && delivers(webhook));
  return createIndexedSource({ ...config, database, watches, log });
};

type ExplorerParts = {
  /** Null where nothing is stored. */
  readonly database: IndexDatabase | null;
  readonly store: Store;
  readonly log: Log;
  readonly opened: AsyncDisposableStack;
  readonly records: RecordStore | undefined;
};

const startExplorers = (config: ExplorerConfig, { database, store, log, opened, records }: ExplorerParts) => {
  const client = openClient(records && { records });
  opened.defer(() => client.close());
  const explorers = openExplorers(config, client, log);
  const live =
    !config.live || database === null
      ? null
      : createLive({ explorers, config: config.live, store, progress: createLiveProgress(database), log });
  return {
    live,
    sources: createExplorerSources(config, explorers, log),
    figures: () => figuresOf(config, client, live),
  };
};

const metricsOf = (read: () => ReturnType<Expose>): Operation => ({
  path: '/metrics',
  needsKey: false,
  async answer() {
    const { type, body } = await read();
    return { status: 200, headers: { 'content-type': type }, body };
  },
  fail: (status) => text(status, ''),
});

const FILE = 'index.sqlite';

const bytesIn = (directory: string): IndexFigures['bytes'] => {
  const sizeOf = (name: string) => statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0;
  return { database: sizeOf(FILE), wal: sizeOf(`${FILE}-wal`) };
};

/** Opens the file of the index for this process alone: two that follow a chain would both deliver. */
const openAlone = (directory: string): IndexDatabase => {
  const above = dirname(directory);
  // Beside it, a new index would have none of its webhooks.
  if (existsSync(join(above, FILE)) && !existsSync(join(directory, FILE)))
    throw new Error(
      `DATA_DIR: expected the index in ${directory}, got one in ${above}: move its files ${FILE}* there`,
    );
  try {
    const database = openDatabase(join(directory, FILE));
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT');
    return database;
  } catch (problem) {
    const text = problem instanceof Error ? problem.message : String(problem);
    const reason = text.includes('locked') ? 'another process uses it' : text;
    throw new Error(`DATA_DIR: expected a folder that can be written, got ${directory}: ${reason}`);
  }
};
