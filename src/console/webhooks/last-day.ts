import { useEffect, useRef, useState } from 'preact/hooks';
import {
  type DeliveryHeadFragment,
  DeliveryTimes,
  type DeliveryTimesQuery,
  type DeliveryTimesQueryVariables,
} from '../__generated__/operations.ts';
import { send } from '../api/client.ts';

/** The deliveries of all webhooks in the last 24 hours. */
export type LastDay = {
  /** How many arrived; where it is a part, at least as many. */
  readonly count: number;
  /** Whether there are more in the day than were read. */
  readonly isPart: boolean;
  /** How many arrived in each of at most 24 spans of the same length, the present one last. */
  readonly perSpan: readonly number[];
  /** The one that arrived last; null when none has. */
  readonly newest: DeliveryHeadFragment | null;
  /** How many minutes back they were read: fewer than a day's when there are too many. */
  readonly minutes: number;
};

const MINUTE_MS = 60_000;
const MINUTES = 24 * 60;
const SPANS = 24;
const PAGE = 1000;
/** A log with more deliveries in a day is shown as far as they reach. */
const MOST_PAGES = 5;
export const MOST_READ = MOST_PAGES * PAGE;
const EVERY_MS = 15_000;

/** What has been read. Minutes are counted from the epoch. */
type Read = {
  readonly counts: ReadonlyMap<string, ReadonlyMap<number, number>>;
  readonly newest: ReadonlyMap<string, DeliveryHeadFragment>;
  readonly since: number;
  readonly head: string;
};

const minuteOf = (time: number): number => Math.floor(time / MINUTE_MS);

type Page = NonNullable<DeliveryTimesQuery['deliveries']>;

/** Null when the log can't be read, or not by this caller; `lost` when it does not go on from the cursor. */
const readPage = async (
  range: DeliveryTimesQueryVariables,
  signal: AbortSignal,
): Promise<Page | 'lost' | null> => {
  const { data, problems } = await send(DeliveryTimes, range, signal);
  const isLost = problems.some(({ code }) => code === 'CURSOR_EXPIRED' || code === 'INVALID_CURSOR');
  return data?.deliveries ?? (isLost ? 'lost' : null);
};

const counted = (read: Read, { nodes }: Page): Read => {
  const counts = new Map(read.counts);
  const newest = new Map(read.newest);
  /** The copies that this page counts in. */
  const own = new Map<string, Map<number, number>>();
  for (const delivery of nodes.filter((node) => node !== null)) {
    const { webhookId, receivedAt } = delivery;
    if (webhookId === null) continue;
    const minute = minuteOf(Date.parse(receivedAt));
    const minutes = own.get(webhookId) ?? new Map(counts.get(webhookId));
    own.set(webhookId, minutes);
    counts.set(webhookId, minutes.set(minute, (minutes.get(minute) ?? 0) + 1));
    if (receivedAt >= (newest.get(webhookId)?.receivedAt ?? '')) newest.set(webhookId, delivery);
  }
  return { ...read, counts, newest };
};

/** Reads back from the newest. */
const readBack = async (signal: AbortSignal): Promise<Read | null> => {
  const first = minuteOf(Date.now()) - MINUTES + 1;
  let read: Read | null = null;
  let before: string | null = null;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const page: Page | 'lost' | null = await readPage({ last: PAGE, before }, signal);
    if (page === null || page === 'lost') return read;
    const oldest = page.nodes[0] ? minuteOf(Date.parse(page.nodes[0].receivedAt)) : first;
    const since = page.pageInfo.hasPreviousPage ? Math.max(first, oldest) : first;
    const begun: Read = read ?? { counts: new Map(), newest: new Map(), since, head: page.head };
    read = counted({ ...begun, since }, page);
    before = page.pageInfo.startCursor;
    if (since === first) return read;
  }
  return read;
};

/** Reads what has arrived since. */
const readOn = async (read: Read, signal: AbortSignal): Promise<Read | null> => {
  const page = await readPage({ first: PAGE, after: read.head }, signal);
  // The log may have been replaced. What was only not answered this time is asked for again.
  if (page === 'lost') return readBack(signal);
  if (page === null) return null;
  const { hasNextPage, endCursor } = page.pageInfo;
  const next = { ...counted(read, page), head: (hasNextPage && endCursor) || page.head };
  return hasNextPage ? readOn(next, signal) : next;
};

/**
 * Returns the last day of some webhooks together; null until it is read, and when it can't be. It goes on with what arrives,
 * while the page is seen, and at once when another `latest` is known to have arrived.
 */
export const useLastDay = (latest: string): ((webhookIds: readonly string[]) => LastDay | null) => {
  const [read, setRead] = useState<Read | null>(null);
  const newestRead = useRef<Read | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    let isReading = false;
    const update = async () => {
      if (isReading || document.hidden) return;
      isReading = true;
      const known = newestRead.current;
      const next = await (known ? readOn(known, abort.signal) : readBack(abort.signal)).catch(() => null);
      isReading = false;
      if (abort.signal.aborted || next === null) return;
      newestRead.current = next;
      setRead(next);
    };
    void update();
    const timer = setInterval(update, EVERY_MS);
    return () => {
      clearInterval(timer);
      abort.abort();
    };
  }, [latest]);

  return (webhookIds) => {
    if (read === null) return null;
    const present = minuteOf(Date.now());
    const minutes = Math.min(MINUTES, present - read.since + 1);
    const length = Math.ceil(minutes / SPANS);
    const perSpan = Array.from({ length: Math.ceil(minutes / length) }, () => 0);
    for (const [minute, count] of webhookIds.flatMap((id) => [...(read.counts.get(id) ?? [])])) {
      const place = perSpan.length - 1 - Math.floor((present - minute) / length);
      // What is older than a day, and what a clock behind the gateway's puts in the future.
      const span = Math.min(place, perSpan.length - 1);
      if (span >= 0) perSpan[span] = (perSpan[span] ?? 0) + count;
    }
    const newest = webhookIds
      .flatMap((webhookId) => read.newest.get(webhookId) ?? [])
      .toSorted((one, other) => (one.receivedAt < other.receivedAt ? 1 : -1));
    return {
      minutes,
      newest: newest[0] ?? null,
      perSpan,
      count: perSpan.reduce((sum, count) => sum + count, 0),
      isPart: minutes < MINUTES,
    };
  };
};
