import { expect } from 'vitest';
import { sleep } from './clients/queries.ts';
import { type Edge, eventually, subscribe } from './clients/subscribe.ts';
import { deliveryPathOf, everythingStored, headOf, numberOf, post, store } from './gateway/on-redis.ts';

export type Traffic = Awaited<ReturnType<typeof startTraffic>>;

/** The address of every delivery that is sent. */
const EVERY = { address: `0x${'aa'.padStart(40, '0')}` };

/** The pause of a sender after each delivery. Several senders still have one under way whenever something is killed. */
const PAUSE_MS = 25;

const ascending = (numbers: Iterable<number>) => [...numbers].sort((one, other) => one - other);

/**
 * Senders and subscribers of gateways that share a log and may end at any time. `anyUrl` is that of one that runs. The first
 * subscriber has a filter that each delivery matches, so it reads by the index. The last one stays for as long as its
 * connection does; the others also leave by themselves.
 */
export const startTraffic = async (
  anyUrl: () => Promise<string>,
  { senders, readers: count }: { readonly senders: number; readonly readers: number },
) => {
  const path = await deliveryPathOf(await anyUrl());
  const head = await headOf(await anyUrl());

  const answered = new Set<number>();
  const statuses = new Set<number | null>();
  let isSending = true;
  let next = 0;
  /** As the service does, it repeats a delivery until it is answered 2xx, at any gateway. */
  const sendOne = async (number: number) => {
    for (let status: number | null = null; status !== 200; ) {
      status = await post(await anyUrl(), path, number);
      statuses.add(status);
      if (status !== 200) await sleep(20);
    }
    answered.add(number);
  };
  const send = async () => {
    for (; isSending; await sleep(PAUSE_MS)) await sendOne(next++);
  };

  const over = Promise.withResolvers<void>();
  let isReading = true;
  const faults: unknown[] = [];
  const readers = Array.from({ length: count }, (_, index) => ({
    options: index === 0 ? { filter: EVERY } : {},
    stays: index === count - 1,
    seen: [] as number[],
    /** What its connection has brought so far, which is not among the others yet. */
    shown: [] as readonly Edge[],
  }));
  /** Resumes with its last cursor, at any gateway. */
  const resume = async (reader: (typeof readers)[number]) => {
    for (let after = head; isReading; await sleep(20)) {
      await using dashboard = subscribe(await anyUrl(), { after, ...reader.options });
      reader.shown = dashboard.edges;
      const leaves = reader.stays ? [] : [sleep(200 + 1000 * Math.random())];
      await Promise.race([dashboard.ended, over.promise, ...leaves]);
      after = dashboard.edges.at(-1)?.cursor ?? after;
      reader.seen.push(...dashboard.edges.map(numberOf));
      reader.shown = [];
      faults.push(...dashboard.faults);
    }
  };
  const haveSeen = () => readers.map(({ seen, shown }) => seen.length + shown.length);
  const reading = readers.map(resume);
  const sending = Array.from({ length: senders }, send);

  return {
    /** How deliveries were answered, null without an answer. */
    statuses: (): ReadonlySet<number | null> => statuses,
    acknowledged: (): ReadonlySet<number> => answered,
    /** Resolves once as many deliveries more have been acknowledged. */
    async more(count: number): Promise<void> {
      const enough = answered.size + count;
      await eventually(() => answered.size >= enough);
    },
    /** Begins to send a delivery beside the senders, and returns its number. */
    another(): number {
      const number = next++;
      sending.push(sendOne(number));
      return number;
    },
    /**
     * Ends the deliveries. The log must have each that was acknowledged, and each subscriber must have got it once, in the order
     * of the log. A repeat of any of them must be acknowledged and not stored.
     */
    async finish(): Promise<void> {
      isSending = false;
      await Promise.all(sending);
      const stored = await everythingStored(await anyUrl());
      await eventually(
        () => faults.length > 0 || haveSeen().every((seen) => seen >= stored.length),
        () => [stored.length, haveSeen()],
      );
      isReading = false;
      over.resolve();
      await Promise.all(reading);
      expect(faults).toEqual([]);
      expect(ascending(stored)).toEqual(ascending(answered));
      for (const { seen } of readers) expect(seen).toEqual(stored);
      const left = stored.values();
      const repeat = async () => {
        for (const number of left) await store(await anyUrl(), path, number);
      };
      await Promise.all(Array.from({ length: senders }, repeat));
      expect(await everythingStored(await anyUrl())).toEqual(stored);
    },
  };
};
