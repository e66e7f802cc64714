import { randomUUID } from 'node:crypto';
import { describeFence, type Fence } from './fence.ts';
import type { OfflineLog } from './offline-log.ts';

/** A log can't be copied, or used in the way that was asked. The message says why, and what to do. */
export class LogTransferError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LogTransferError';
  }
}

/** What was copied so far, by this call alone. */
type CopyProgress = { tenants: number; deliveries: number; bytes: number };

type Options = {
  readonly from: OfflineLog;
  readonly to: OfflineLog;
  /** What belongs to the log beside it. */
  readonly beside: {
    /** Rejects if the target has something else in its place. */
    readonly check: () => Promise<void>;
    /** Runs before gateways can use the copy. */
    readonly copy: () => Promise<void>;
  };
  /** Is kept up to date while the copy runs. */
  readonly progress: CopyProgress;
};

/** Tenants with few deliveries take a round trip each, so several are copied at a time. */
const TENANTS_AT_ONCE = 16;

/**
 * Copies a whole log into an empty one, with its sequences, epochs and times, so that all cursors stay valid. What an earlier
 * copy left unfinished is dropped, and all is copied anew. From its beginning no gateway can use the source, and until its end
 * none can use the copy.
 *
 * First the target is fenced, then the source. When all is copied, the source's fence says so, and then the copy's is removed.
 * At each moment at most one of the two is open, and a second copy finds its source fenced by the first.
 */
export const copyLog = async ({ from, to, beside, progress }: Options): Promise<void> => {
  const seed = await from.seed();
  if (seed === null) throw new LogTransferError(`${from.name}: expected a delivery log, found none`);
  const before = await from.fence();
  if (before?.role === 'target') throw new LogTransferError(`${from.name}: ${describeFence(before)}`);
  await expectEmptyOrUnfinished(from, to, seed, before?.copy ?? null);
  await beside.check();
  const begun: Fence = { role: 'target', peer: from.name, copy: randomUUID() };
  const copying: Fence = { role: 'source', peer: to.name, copy: null };
  await to.create(seed, begun);
  await beside.copy();
  await replaceFence(from, before, copying);
  for await (const tenant of to.tenants()) await to.drop(tenant);
  await copyTenants(from, to, progress);
  const time = await from.time();
  if (time !== null) await to.keepTime(time);
  await to.flush();
  await replaceFence(from, copying, { ...copying, copy: begun.copy });
  for await (const tenant of to.tenants()) await to.release(tenant);
  await replaceFence(to, begun, null);
};

/**
 * Makes a log usable again that was being copied. `isForced`: also one whose copy is complete, or that was restored from an
 * older copy. What has been stored elsewhere since is lost then, so all its cursors expire: no subscriber skips it unknowingly.
 */
export const reopenLog = async (log: OfflineLog, isForced: boolean): Promise<void> => {
  const fence = await log.fence();
  if (fence?.role === 'target') throw new LogTransferError(`${log.name}: ${describeFence(fence)}`);
  if (fence === null && !isForced)
    throw new LogTransferError(`${log.name}: gateways can use this log already`);
  if (fence !== null && fence.copy !== null && !isForced)
    throw new LogTransferError(
      `${log.name}: ${describeFence(fence)}. If no gateway will ever use that copy, "log reopen --force" makes this log usable again`,
    );
  if (isForced) await log.renewEpochs();
  for await (const tenant of log.tenants()) await log.release(tenant);
  await replaceFence(log, fence, null);
};

const replaceFence = async (log: OfflineLog, before: Fence | null, after: Fence | null): Promise<void> => {
  if (!(await log.replaceFence(before, after)))
    throw new LogTransferError(
      `${log.name}: another "log copy" or "log reopen" has changed this log meanwhile; look at it, and start again`,
    );
};

/**
 * Rejects unless the target is empty, or the unfinished copy of this source. `copied` identifies the source's complete copy,
 * which no gateway has used while it is still fenced.
 */
const expectEmptyOrUnfinished = async (
  from: OfflineLog,
  to: OfflineLog,
  seed: Buffer,
  copied: string | null,
): Promise<void> => {
  const fence = await to.fence();
  const isOwn = fence?.role === 'target' && (await to.seed())?.equals(seed);
  if (copied !== null && !(isOwn && fence.copy === copied)) {
    const source = await from.fence();
    throw new LogTransferError(`${from.name}: ${source === null ? 'it has changed' : describeFence(source)}`);
  }
  if (isOwn) return;
  if (fence !== null) throw new LogTransferError(`${to.name}: ${describeFence(fence)}`);
  for await (const tenant of to.tenants())
    throw new LogTransferError(
      `${to.name}: expected an empty place for the copy, found a log with deliveries, those of ${JSON.stringify(tenant)} among them`,
    );
};

const copyTenants = async (from: OfflineLog, to: OfflineLog, progress: CopyProgress): Promise<void> => {
  const left = from.tenants()[Symbol.asyncIterator]();
  const copyNext = async (): Promise<void> => {
    for (let next = await left.next(); !next.done; next = await left.next()) {
      const tenant = next.value;
      await copyTenant(from, to, tenant, progress);
      progress.tenants += 1;
    }
  };
  await Promise.all(Array.from({ length: TENANTS_AT_ONCE }, copyNext));
};

const copyTenant = async (
  from: OfflineLog,
  to: OfflineLog,
  tenant: string,
  progress: CopyProgress,
): Promise<void> => {
  const source = await from.hold(tenant);
  if (source === null) return;
  await to.begin(tenant, source);
  let head = source.floor;
  while (head < source.head) {
    const deliveries = await from.deliveries(tenant, head);
    if (deliveries.some(({ sequence }, index) => sequence !== head + 1 + index) || deliveries.length === 0)
      throw new LogTransferError(
        `${from.name}: expected delivery ${head + 1} of ${JSON.stringify(tenant)}, found ${deliveries[0]?.sequence ?? 'none'}`,
      );
    const after = await to.append(tenant, head, deliveries);
    if (after !== head + deliveries.length)
      throw new LogTransferError(
        `${to.name}: expected ${head + deliveries.length} deliveries of ${JSON.stringify(tenant)}, found ${after}: something else has written to the copy`,
      );
    head = after;
    progress.deliveries += deliveries.length;
    progress.bytes += deliveries.reduce((bytes, { body }) => bytes + body.byteLength, 0);
  }
};
