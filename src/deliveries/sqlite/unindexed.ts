import type { DatabaseSync } from 'node:sqlite';
import type { Findable } from './terms.ts';

/** A delivery that is stored, and not in the indexes yet. */
export type Unindexed = Findable & {
  readonly tenant: number;
  readonly sequence: number;
  readonly identity: Buffer;
};

type Tail = { deliveries: Unindexed[]; entries: number };

/** The deliveries that no index has yet: of each tenant the newest, read from the log when it is opened. */
export class UnindexedRows {
  readonly #tails = new Map<number, Tail>();
  /** These, and those that were taken and not yet forgotten, by what their identities begin with. */
  readonly #alike = new Map<number, Unindexed[]>();
  #entries = 0;

  constructor(database: DatabaseSync) {
    const rows = database.prepare(
      `SELECT tenant.id AS tenant, sequence, webhook, type, chain, addresses, identity
       FROM tenant CROSS JOIN delivery
       WHERE delivery.id > (tenant.id << 40 | indexed) AND delivery.id <= (tenant.id << 40 | head)
       ORDER BY delivery.id`,
    );
    for (const row of rows.iterate()) {
      this.add({
        tenant: Number(row.tenant),
        sequence: Number(row.sequence),
        webhookId: row.webhook === null ? null : String(row.webhook),
        type: row.type === null ? null : String(row.type),
        chainId: row.chain === null ? null : Number(row.chain),
        addresses: String(row.addresses),
        identity: row.identity instanceof Uint8Array ? Buffer.from(row.identity) : Buffer.alloc(0),
      });
    }
  }

  /** How many index entries they may take, without those that were taken. */
  get entries(): number {
    return this.#entries;
  }

  find(tenant: number, identity: Buffer): number | undefined {
    const alike = this.#alike.get(beginningOf(identity));
    return alike?.find((one) => one.tenant === tenant && one.identity.equals(identity))?.sequence;
  }

  /** Says how many index entries this one may take. */
  add(delivery: Unindexed): number {
    const { tenant, identity } = delivery;
    const entries = mostEntriesOf(delivery);
    const tail = this.#tails.get(tenant);
    if (tail === undefined) this.#tails.set(tenant, { deliveries: [delivery], entries });
    else {
      tail.deliveries.push(delivery);
      tail.entries += entries;
    }
    this.#entries += entries;
    const beginning = beginningOf(identity);
    const alike = this.#alike.get(beginning);
    if (alike === undefined) this.#alike.set(beginning, [delivery]);
    else alike.push(delivery);
    return entries;
  }

  /** The tenant whose deliveries need the most entries: long segments are what makes few of them. */
  mostOwing(): number {
    const [most] = [...this.#tails].sort(([, a], [, b]) => b.entries - a.entries);
    return most?.[0] ?? 0;
  }

  /** In their order. They are still found, until they are forgotten. */
  take(tenant: number): readonly Unindexed[] {
    const tail = this.#tails.get(tenant);
    if (tail === undefined) return [];
    this.#tails.delete(tenant);
    this.#entries -= tail.entries;
    return tail.deliveries;
  }

  forget(deliveries: readonly Unindexed[]): void {
    for (const delivery of deliveries) {
      const beginning = beginningOf(delivery.identity);
      const others = this.#alike.get(beginning)?.filter((one) => one !== delivery) ?? [];
      if (others.length === 0) this.#alike.delete(beginning);
      else this.#alike.set(beginning, others);
    }
  }
}

/** Its identity, webhook, type and chain, and its addresses. */
const mostEntriesOf = ({ addresses }: Unindexed): number => 4 + Math.ceil(addresses.length / ADDRESS_LENGTH);

const ADDRESS_LENGTH = '0x '.length + 40;

/** Few share it. The whole as text would cost more: a map keeps each text that it is asked for in a table of all texts. */
const beginningOf = (identity: Buffer): number => identity.readInt32LE();
