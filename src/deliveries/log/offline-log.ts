import type { Fence } from './fence.ts';
import type { NewDelivery } from './log.ts';
import type { KeptTime } from './retention.ts';

/** A tenant's log: it holds the sequences floor + 1 … head. */
export type TenantLog = {
  readonly head: number;
  readonly floor: number;
  readonly epoch: Buffer;
  /** The fingerprint of the last trimmed delivery, which is that of `floor`; UNKNOWN for none. */
  readonly trimmed: number;
};

/** A delivery as one log holds it and another can. */
export type WholeDelivery = NewDelivery & {
  readonly sequence: number;
  /** When it was stored by the clock of the log, if that was far from the gateway's; null otherwise. */
  readonly storedAt: number | null;
};

/** What can be read of a log while gateways use it. */
export type TenantReader = {
  /** Where it is, without access: a path, or the URLs of Redis. */
  readonly name: string;
  /** Null where the tenant never had a delivery. */
  tenant(tenant: string): Promise<TenantLog | null>;
  /** The deliveries after a sequence, in their order: a few of them, at least one unless there are none. */
  deliveries(tenant: string, after: number): Promise<readonly WholeDelivery[]>;
  close(): Promise<void>;
};

/**
 * All of a stored log, for work on it that no gateway does: copies, exports, deletions. Calls reject with
 * LogUnavailableError or LogOpenError when the store fails.
 */
export type OfflineLog = TenantReader & {
  /** The seed from which epochs of cursors are made; null without a log. */
  seed(): Promise<Buffer | null>;
  fence(): Promise<Fence | null>;
  /** Resolves with false, and changes nothing, if the fence is no longer `before`. */
  replaceFence(before: Fence | null, after: Fence | null): Promise<boolean>;
  /** Gives a log that no gateway uses this seed and fence. What it holds stays. */
  create(seed: Buffer, fence: Fence): Promise<void>;
  /** Makes all cursors expire. The fence stays. */
  renewEpochs(): Promise<void>;
  /** Every tenant that has ever had a delivery, each once. */
  tenants(): AsyncIterable<string>;
  /** As `tenant`. From then on no gateway appends to the tenant's log, not even one that began before the log was fenced. */
  hold(tenant: string): Promise<TenantLog | null>;
  /** Undoes `hold` and `begin`, which hold a tenant. */
  release(tenant: string): Promise<void>;
  /** Begins the tenant's log in place of one without deliveries: an empty one, with all of this one trimmed up to its floor. */
  begin(tenant: string, log: TenantLog): Promise<void>;
  /**
   * Appends deliveries if the head is `after`, so that a repeated call appends nothing. They have the next sequences without
   * a gap. Resolves with the head.
   */
  append(tenant: string, after: number, deliveries: readonly WholeDelivery[]): Promise<number>;
  /** Drops all deliveries of a tenant. Its numbers go on, so its cursors expire. Resolves with their number. */
  drop(tenant: string): Promise<number>;
  /** See KeptTime; null if none was saved. */
  time(): Promise<KeptTime | null>;
  keepTime(time: KeptTime): Promise<void>;
  /** Makes everything durable that was appended. */
  flush(): Promise<void>;
};
