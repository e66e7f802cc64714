import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { startService } from '../server.ts';
import type { Hex } from '../types.ts';
import { delivers } from '../webhooks/webhook.ts';
import type { ServiceConfig } from './config.ts';
import { openDatabase } from './database/database.ts';
import { createWebhookStore } from './database/webhook-store.ts';
import type { Log } from './follower/follower.ts';
import { createIndexedSource } from './source.ts';

/** The service over an index of real chains, which listens. */
export type IndexedService = {
  /** Without a trailing slash. */
  readonly url: string;
  /** Begins to follow the chains and to deliver. */
  follow(): void;
  /** Resolves when nothing is answered, delivered or written any more. */
  stop(): Promise<void>;
};

/**
 * Starts the service over an index. It answers from what is indexed, and follows its chains from `follow` on.
 * Rejects when the folder can't be written or another process uses it, when a file of the configuration can't be used, or the
 * port is taken.
 */
export const startIndexed = async ({
  log,
  ...config
}: ServiceConfig & { readonly log: Log }): Promise<IndexedService> => {
  const opened = new AsyncDisposableStack();
  try {
    const database = openAlone(config.directory);
    opened.defer(() => database.close());
    const store = createWebhookStore(database, Date.now);
    const watches = (account: Hex): boolean =>
      [...store.subscribers(account)].some((webhook) => webhook.type === 'balances' && delivers(webhook));
    const source = await createIndexedSource({ ...config, database, watches, log });
    const { host, port, apiKey, keyHeader } = config;
    const service = await startService(source, {
      ...{ host, port, apiKey, keyHeader, store, log },
      // A gateway that this service is a part of listens only when it says to follow.
      isPaused: true,
      signatureSecret: config.signatureSecret ?? undefined,
    }).catch(async (problem: unknown) => {
      await source.stop();
      throw problem;
    });
    opened.defer(() => service.stop());
    // Stop following blocks first, then answering and delivering.
    opened.defer(() => source.stop());
    return {
      url: service.url,
      follow() {
        service.webhooks.start();
        void source.start();
      },
      stop: () => opened.disposeAsync(),
    };
  } catch (problem) {
    await opened.disposeAsync();
    throw problem;
  }
};

/** Opens the file of the index for this process alone: two that follow a chain would both deliver. */
const openAlone = (directory: string): DatabaseSync => {
  try {
    const database = openDatabase(join(directory, 'index.sqlite'));
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT');
    return database;
  } catch (problem) {
    const text = problem instanceof Error ? problem.message : String(problem);
    const reason = text.includes('locked') ? 'another process uses it' : text;
    throw new Error(`INDEX_DIR: expected a folder that can be written, got ${directory}: ${reason}`);
  }
};
