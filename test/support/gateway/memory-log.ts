import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppendListeners, RecentGrowth } from '../../../src/deliveries/log/appends.ts';
import {
  areDifferent,
  Cursors,
  fingerprintOf,
  identityOf,
  identityPrefix,
  type Place,
  START,
  UNKNOWN,
} from '../../../src/deliveries/log/cursor.ts';
import { LogClosedError, ReadAbortedError } from '../../../src/deliveries/log/errors.ts';
import {
  type AppendResult,
  type DeliveryFilter,
  type DeliveryLog,
  matches,
  type NewDelivery,
  type StoredDelivery,
} from '../../../src/deliveries/log/log.ts';
import { type Found, readPage, type SequenceRange, sequencesIn } from '../../../src/deliveries/log/page.ts';
import {
  fairShare,
  type KeptTime,
  RetentionClock,
  retentionOf,
  startTrimming,
} from '../../../src/deliveries/log/retention.ts';
import type { openSqliteLog } from '../../../src/deliveries/sqlite/log.ts';
import { monotonicClock } from '../../../src/lib/deadlines.ts';

type Entry = { readonly delivery: StoredDelivery; readonly identity: string; readonly place: Place };

/** One tenant's log: the entries after `trimmed`, without a gap. */
class TenantLog {
  readonly entries: Entry[] = [];
  trimmed: Place = START;
  readonly sequences = new Map<string, number>();

  get head(): Place {
    return this.entries.at(-1)?.place ?? this.trimmed;
  }

  at(sequence: number): Entry | undefined {
    return this.entries[sequence - this.trimmed.sequence - 1];
  }

  fingerprintAt(sequence: number): number {
    const { place } = this.at(sequence) ?? { place: this.trimmed };
    return place.sequence === sequence ? place.fingerprint : UNKNOWN;
  }

  find(filter: DeliveryFilter, range: SequenceRange, maxScanned: number): Found {
    const sequences: number[] = [];
    const all = sequencesIn({ ...range, limit: Number.POSITIVE_INFINITY });
    for (const [index, sequence] of all.entries()) {
      const entry = this.at(sequence);
      if (entry && matches(filter, entry.delivery)) sequences.push(sequence);
      const scanned = index + 1;
      if (sequences.length === range.limit) return { sequences, cutAt: null, scanned };
      if (scanned >= maxScanned && scanned < all.length) return { sequences, cutAt: sequence, scanned };
    }
    return { sequences, cutAt: null, scanned: all.length };
  }

  /** Drops the entries before the first one that is to be kept. */
  trim(isKept: (entry: Entry) => boolean): void {
    const first = this.entries.findIndex(isKept);
    const dropped = this.entries.splice(0, first === -1 ? this.entries.length : first);
    for (const { identity } of dropped) this.sequences.delete(identity);
    this.trimmed = dropped.at(-1)?.place ?? this.trimmed;
  }
}

/** What a folder would hold. */
class Content {
  readonly cursors = new Cursors(randomBytes(32));
  readonly tenants = new Map<string, TenantLog>();
  time: KeptTime | null = null;
}

/** By folder: a log that is opened again in this process has what the one before it stored. */
const contents = new Map<string, Content>();

/** Lets go of what the logs of this folder have stored. */
export const forgetMemoryLog = (dataDir: string): void => void contents.delete(dataDir);

/**
 * Opens a delivery log in memory, for tests that do not concern its storage. Its contract is that of the others, except that
 * nothing survives the process.
 */
export const openMemoryLog: typeof openSqliteLog = async (options): Promise<DeliveryLog> => {
  const { dataDir, now = Date.now, retentionObserver = {} } = options;
  const { maxAgeMs, maxCount, maxTotal } = retentionOf(options);
  const content = contents.get(dataDir) ?? new Content();
  contents.set(dataDir, content);
  const { cursors, tenants } = content;
  const listeners = new AppendListeners();
  const growth = new RecentGrowth();
  let grown = new Set<string>();
  let isClosed = false;

  const checkOpen = () => {
    if (isClosed) throw new LogClosedError();
  };
  const logOf = (tenant: string) => tenants.get(tenant) ?? new TenantLog();
  const store = (delivery: NewDelivery): AppendResult => {
    const { tenant, webhookId, chainId, receivedAt } = delivery;
    const log = logOf(tenant);
    tenants.set(tenant, log);
    const body = Buffer.from(delivery.body);
    const identity = identityOf(Buffer.concat([Buffer.from(identityPrefix(webhookId)), body]));
    const key = `${identity.toString('hex')} ${chainId}`;
    const original = log.at(log.sequences.get(key) ?? 0);
    if (original) return { ...resultOf(original), duplicate: true };
    const place = { sequence: log.head.sequence + 1, fingerprint: fingerprintOf(identity, receivedAt) };
    const cursor = cursors.cursor(tenant, place);
    const entry = { delivery: { ...delivery, body, sequence: place.sequence, cursor }, identity: key, place };
    log.entries.push(entry);
    log.sequences.set(key, place.sequence);
    growth.add(tenant, place.sequence);
    if (grown.size === 0) setImmediate(notifyGrown);
    grown.add(tenant);
    return { ...resultOf(entry), duplicate: false };
  };
  const notifyGrown = () => {
    const tenantsThatGrew = grown;
    grown = new Set();
    listeners.notify(tenantsThatGrew);
  };

  const clock = new RetentionClock(
    content.time ?? { now: now(), jump: null },
    options.monotonic ?? monotonicClock,
    retentionObserver,
  );
  const trimOnce = async () => {
    checkOpen();
    content.time = clock.read(now());
    const oldest = content.time.now - maxAgeMs;
    const counts = Map.groupBy(tenants.values(), ({ entries }) => entries.length);
    const share = fairShare(new Map([...counts].map(([count, logs]) => [count, logs.length])), maxTotal);
    for (const log of tenants.values()) {
      const last = log.head.sequence - Math.min(maxCount, share);
      log.trim(({ place, delivery }) => place.sequence > last && delivery.receivedAt >= oldest);
    }
  };
  const trimming = startTrimming(trimOnce, retentionObserver.failed);

  return {
    append: async (batch) => {
      checkOpen();
      return batch.map(store);
    },
    read: async (tenant, range, { signal } = {}) => {
      checkOpen();
      const log = logOf(tenant);
      const extent = { head: log.head.sequence, floor: log.trimmed.sequence };
      await nextTurn();
      if (signal?.aborted) throw new ReadAbortedError();
      const fingerprintAt = (sequence: number) => log.fingerprintAt(sequence);
      return readPage(
        {
          extent,
          resume: (cursor) => cursors.sequence(tenant, cursor, extent, fingerprintAt),
          find: async (...search) => log.find(...search),
          load: async (sequences, maxBytes) => {
            const deliveries: StoredDelivery[] = [];
            let bytes = 0;
            for (const sequence of sequences) {
              if (bytes >= maxBytes) break;
              const { delivery } = log.at(sequence) ?? {};
              if (delivery) deliveries.push(delivery);
              bytes += delivery?.body.byteLength ?? 0;
            }
            return { deliveries, floor: log.trimmed.sequence };
          },
          cursorAt: (sequence) => cursors.cursor(tenant, { sequence, fingerprint: fingerprintAt(sequence) }),
        },
        range,
      );
    },
    get: async (tenant, cursor) => {
      checkOpen();
      const place = cursors.find(tenant, cursor);
      const entry = place && logOf(tenant).at(place.sequence);
      return entry && !areDifferent(place.fingerprint, entry.place.fingerprint) ? entry.delivery : null;
    },
    head: async (tenant) => {
      checkOpen();
      return cursors.cursor(tenant, logOf(tenant).head);
    },
    check: async () => checkOpen(),
    changed: async (mark) => {
      checkOpen();
      return growth.since(mark);
    },
    size: async () => {
      checkOpen();
      const deliveries = [...tenants.values()].flatMap(({ entries }) =>
        entries.map(({ delivery }) => delivery),
      );
      return {
        bytes: deliveries.reduce((bytes, { body }) => bytes + body.byteLength, 0),
        deliveries: deliveries.length,
        tenants: [...tenants.values()].filter(({ entries }) => entries.length > 0).length,
        oldestAt: deliveries.length > 0 ? Math.min(...deliveries.map(({ receivedAt }) => receivedAt)) : null,
      };
    },
    trim: () => trimming.trim(),
    onAppend: (listener) => listeners.add(listener),
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      trimming.stop();
      // Blocked readers read again, and get LogClosedError.
      listeners.notify(null);
    },
  };
};

const resultOf = ({ delivery: { cursor, sequence } }: Entry): Pick<AppendResult, 'cursor' | 'sequence'> => ({
  cursor,
  sequence,
});
