import type { Change } from '../../dispatch/requests.ts';
import type { DeliveryQueue, Held, Store } from '../../dispatch/store.ts';
import { uuidV7 } from '../../dispatch/uuid.ts';
import { changed, delivers, newWebhook, type Webhook } from '../../dispatch/webhook.ts';
import type { Hex } from '../../types.ts';
import { bytesOf, hexOf } from '../blocks/encoding.ts';
import { type IndexDatabase, inDurableTransaction, inOwnTransaction } from './database.ts';

/**
 * AUTOINCREMENT: positions and ids are never reused.
 *
 * Table `deliveries`: `retry` is the number of failed attempts, and `due` when the next one is due, in milliseconds since 1970.
 * `held` is the place in HELD of what a delivery waits for beside its turn.
 */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS webhooks (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook TEXT NOT NULL,
    last_address INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE IF NOT EXISTS webhook_addresses (
    webhook INTEGER NOT NULL,
    position INTEGER NOT NULL,
    address BLOB NOT NULL,
    PRIMARY KEY (webhook, position)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX IF NOT EXISTS webhooks_by_address ON webhook_addresses (address, webhook);
  CREATE TABLE IF NOT EXISTS deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook INTEGER NOT NULL,
    chain INTEGER NOT NULL,
    block INTEGER NOT NULL,
    due INTEGER NOT NULL,
    retry INTEGER NOT NULL DEFAULT 0,
    held INTEGER NOT NULL DEFAULT 0,
    body TEXT NOT NULL
  ) STRICT;
`;

/** The index of all has the ids of a webhook's in their order. */
const INDEXES = `
  DROP INDEX IF EXISTS deliveries_by_due;
  CREATE INDEX IF NOT EXISTS deliveries_of_webhook ON deliveries (webhook, held);
  CREATE INDEX IF NOT EXISTS deliveries_held ON deliveries (webhook, due) WHERE held > 0;
`;

const HELD: readonly Held[] = ['no', 'until due', 'until accepted'];

/**
 * Makes the tables, and adds to those of earlier versions what these lack. They don't say since when a delivery is pending: those
 * in them count from their first opening on.
 */
const createTables = (database: IndexDatabase, now: number): void => {
  database.exec(SCHEMA);
  const columns = database.prepare("SELECT name FROM pragma_table_info('deliveries')").all();
  const lacks = (column: string) => !columns.some(({ name }) => name === column);
  if (lacks('added'))
    database.exec(`ALTER TABLE deliveries ADD COLUMN added INTEGER NOT NULL DEFAULT ${Math.ceil(now)}`);
  if (lacks('held')) database.exec('ALTER TABLE deliveries ADD COLUMN held INTEGER NOT NULL DEFAULT 0');
  database.exec(INDEXES);
};

type Known = { readonly position: number; readonly webhook: Webhook };

/** The webhooks themselves are few, and are held in memory too; their addresses and deliveries are many. */
class KnownWebhooks {
  readonly #byId = new Map<string, Known>();
  readonly #byPosition = new Map<number, Webhook>();

  get(id: string): Known | undefined {
    return this.#byId.get(id);
  }

  at(position: unknown): Webhook | undefined {
    return this.#byPosition.get(Number(position));
  }

  set(position: number, webhook: Webhook): void {
    this.#byId.set(webhook.id, { position, webhook });
    this.#byPosition.set(position, webhook);
  }

  delete({ position, webhook }: Known): void {
    this.#byId.delete(webhook.id);
    this.#byPosition.delete(position);
  }

  /** In the order in which they were created. */
  values(): MapIterator<Known> {
    return this.#byId.values();
  }

  get isEmpty(): boolean {
    return this.#byId.size === 0;
  }
}

/**
 * A store in a SQLite database, in which it makes its tables. What is done within a transaction of the database stands
 * or falls with it; every other change is a transaction of its own.
 */
export const createWebhookStore = (database: IndexDatabase, now: () => number): Store => {
  createTables(database, now());
  const known = new KnownWebhooks();
  for (const { position, webhook } of database
    .prepare('SELECT position, webhook FROM webhooks ORDER BY position')
    .iterate())
    known.set(Number(position), JSON.parse(String(webhook)));

  const insert = database.prepare('INSERT INTO webhooks (webhook) VALUES (?)');
  const write = database.prepare('UPDATE webhooks SET webhook = ? WHERE position = ?');
  const deleteWebhook = database.prepare('DELETE FROM webhooks WHERE position = ?');
  const lastAddress = database.prepare('SELECT last_address FROM webhooks WHERE position = ?');
  const setLastAddress = database.prepare('UPDATE webhooks SET last_address = ? WHERE position = ?');
  const addAddress = database.prepare('INSERT OR IGNORE INTO webhook_addresses VALUES (?, ?, ?)');
  const removeAddress = database.prepare('DELETE FROM webhook_addresses WHERE address = ? AND webhook = ?');
  const removeAddresses = database.prepare('DELETE FROM webhook_addresses WHERE webhook = ?');
  const addressPage = database.prepare(
    'SELECT position, address FROM webhook_addresses WHERE webhook = ? AND position > ? ORDER BY position LIMIT ?',
  );
  const subscribers = database.prepare('SELECT webhook FROM webhook_addresses WHERE address = ?');
  const dropDeliveries = database.prepare('DELETE FROM deliveries WHERE webhook = ?');

  const subscribe = (position: number, addresses: readonly Hex[]): void => {
    let last = Number(lastAddress.get(position)?.last_address);
    for (const address of addresses)
      last += Number(addAddress.run(position, last + 1, bytesOf(address)).changes);
    setLastAddress.run(last, position);
  };

  /** Changes a webhook and what it has in one transaction. */
  const change = (id: string, settings: Change, apply: (position: number) => void): void => {
    const found = known.get(id);
    if (found === undefined) return;
    const webhook = changed(found.webhook, settings, now());
    inDurableTransaction(database, () => {
      write.run(JSON.stringify(webhook), found.position);
      apply(found.position);
      if (!delivers(webhook)) dropDeliveries.run(found.position);
    });
    known.set(found.position, webhook);
  };

  return {
    deliveries: createDeliveryQueue(database, known),
    find: (id) => known.get(id)?.webhook ?? null,
    page: (after, limit) =>
      known
        .values()
        .filter(({ position }) => position > after)
        .take(limit)
        .map(({ position, webhook }) => ({ position, item: webhook }))
        .toArray(),
    create(creation, id = uuidV7(now())) {
      const webhook = newWebhook(id, creation, now());
      const position = inDurableTransaction(database, () => {
        const { lastInsertRowid } = insert.run(JSON.stringify(webhook));
        subscribe(Number(lastInsertRowid), creation.addresses);
        return Number(lastInsertRowid);
      });
      known.set(position, webhook);
      return webhook;
    },
    update: (id, settings) => change(id, settings, () => {}),
    remove(id) {
      const found = known.get(id);
      if (found === undefined) return;
      inDurableTransaction(database, () => {
        for (const statement of [dropDeliveries, removeAddresses, deleteWebhook])
          statement.run(found.position);
      });
      known.delete(found);
    },
    addresses: (id, after, limit) =>
      addressPage
        .all(known.get(id)?.position ?? 0, after, limit)
        .flatMap(({ position, address }) =>
          address instanceof Uint8Array ? [{ position: Number(position), item: hexOf(address) }] : [],
        ),
    changeAddresses(id, { remove, add }) {
      change(id, {}, (position) => {
        for (const address of remove) removeAddress.run(bytesOf(address), position);
        subscribe(position, add);
      });
    },
    replaceAddresses(id, addresses) {
      change(id, {}, (position) => {
        removeAddresses.run(position);
        subscribe(position, addresses);
      });
    },
    *subscribers(address) {
      if (known.isEmpty) return;
      for (const { webhook } of subscribers.all(bytesOf(address))) {
        const found = known.at(webhook);
        if (found !== undefined) yield found;
      }
    },
  };
};

const createDeliveryQueue = (database: IndexDatabase, known: KnownWebhooks): DeliveryQueue => {
  const add = database.prepare(
    'INSERT INTO deliveries (webhook, chain, block, due, body, added) VALUES (?1, ?2, ?3, ?4, ?5, ?4)',
  );
  const count = database.prepare('SELECT count(*) AS count FROM deliveries WHERE webhook = ?');
  const all = database.prepare('SELECT count(*) AS count FROM deliveries');
  const first = database.prepare('SELECT added FROM deliveries ORDER BY id LIMIT 1');
  const webhooks = database.prepare('SELECT DISTINCT webhook FROM deliveries');
  const next = database.prepare(
    `SELECT id, chain, block, retry, due, body FROM deliveries
     WHERE id = (SELECT min(id) FROM deliveries WHERE webhook = ? AND held = 0)`,
  );
  const firstHeld = database.prepare(
    `SELECT due FROM deliveries INDEXED BY deliveries_held
     WHERE webhook = ? AND held > 0 ORDER BY due LIMIT 1`,
  );
  const releaseDue = database.prepare(
    'UPDATE deliveries SET held = 0 WHERE webhook = ? AND held > 0 AND due <= ?',
  );
  const remove = database.prepare('DELETE FROM deliveries WHERE id = ?');
  const tryLater = database.prepare('UPDATE deliveries SET retry = ?, due = ?, held = ? WHERE id = ?');
  const release = database.prepare(
    `UPDATE deliveries SET held = 0 WHERE webhook = ? AND held = ${HELD.indexOf('until accepted')}`,
  );
  const dropDue = database.prepare('DELETE FROM deliveries WHERE webhook = ? AND due <= ?');
  const drop = database.prepare('DELETE FROM deliveries WHERE chain = ? AND block >= ?');
  const positionOf = (id: string): number => known.get(id)?.position ?? 0;

  const heldUntil = (webhookId: string): number | null => {
    const due = firstHeld.get(positionOf(webhookId))?.due;
    return due === undefined ? null : Number(due);
  };

  return {
    add({ webhookId, chainId, blockNumber, body }, time) {
      add.run(positionOf(webhookId), chainId, blockNumber, Math.ceil(time), body);
    },
    count: (webhookId) => Number(count.get(positionOf(webhookId))?.count),
    pending() {
      const oldest = first.get()?.added ?? null;
      return { count: Number(all.get()?.count), oldestAt: oldest === null ? null : Number(oldest) };
    },
    webhookIds: () => webhooks.all().flatMap(({ webhook }) => known.at(webhook)?.id ?? []),
    next(webhookId, time) {
      const found = known.get(webhookId);
      if (found === undefined) return null;
      // To look for the first one among many that are due would take longer each time.
      if ((heldUntil(webhookId) ?? time + 1) <= time) releaseDue.run(found.position, Math.floor(time));
      const row = next.get(found.position);
      if (row === undefined) return null;
      return {
        id: Number(row.id),
        webhookId,
        type: found.webhook.type,
        chainId: Number(row.chain),
        blockNumber: Number(row.block),
        retry: Number(row.retry),
        due: Number(row.due),
        body: String(row.body),
      };
    },
    heldUntil,
    record(outcomes) {
      if (outcomes.length === 0) return;
      inOwnTransaction(database, () => {
        for (const { delivery, next } of outcomes) {
          if (next === null) remove.run(delivery.id);
          else tryLater.run(next.retry, Math.ceil(next.due), HELD.indexOf(next.held), delivery.id);
        }
      });
    },
    release: (webhookId) => void release.run(positionOf(webhookId)),
    dropDue: (webhookId, time) => Number(dropDue.run(positionOf(webhookId), Math.floor(time)).changes),
    dropBlocks: (chainId, fromNumber) => void drop.run(chainId, fromNumber),
  };
};
