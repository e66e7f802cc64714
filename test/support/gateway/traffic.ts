import { expect } from 'vitest';
import { sleep } from '../clients/queries.ts';
import { eventually, subscribe } from '../clients/subscribe.ts';
import { deliveryPathOf, everythingStored, headOf, numberOf, post } from './on-redis.ts';

const ascending = (numbers: Iterable<number>) => [...numbers].sort((one, other) => one - other);

/** Senders and subscribers of gateways that share a log and may end at any time. `anyUrl` is that of one that runs. */
export const startTraffic = async (
  anyUrl: () => Promise<string>,
  { senders, readers }: { readonly senders: number; readonly readers: number },
) => {
  const path = await deliveryPathOf(await anyUrl());
  const head = await headOf(await anyUrl());

  const answered = new Set<number>();
  let isSending = true;
  let next = 0;
  /** As the service does, it repeats a delivery until it is answered 2xx, at any gateway. */
  const send = async () => {
    for (; isSending; await sleep(5)) {
      const number = next;
      next += 1;
      while ((await post(await anyUrl(), path, number)) !== 200) await sleep(20);
      answered.add(number);
    }
  };
  let isReading = true;
  const faults: unknown[] = [];
  /** Resumes with its last cursor, at any gateway, and now and then leaves by itself. */
  const read = async (seen: number[]) => {
    for (let after = head; isReading; await sleep(20)) {
      await using dashboard = subscribe(await anyUrl(), { after });
      await Promise.race([dashboard.ended, sleep(200 + 1000 * Math.random())]);
      after = dashboard.edges.at(-1)?.cursor ?? after;
      seen.push(...dashboard.edges.map(numberOf));
      faults.push(...dashboard.faults);
    }
  };
  const seenBy = Array.from({ length: readers }, (): number[] => []);
  const reading = seenBy.map(read);
  const sending = Array.from({ length: senders }, send);

  return {
    /** The number of deliveries that were answered 2xx so far. */
    acknowledged: () => answered.size,
    /** Ends the deliveries. Every one that was acknowledged must be in the log, and each subscriber must have got it once. */
    async finish(): Promise<void> {
      isSending = false;
      await Promise.all(sending);
      const stored = await everythingStored(await anyUrl());
      await eventually(() => faults.length > 0 || seenBy.every((seen) => seen.length >= stored.length));
      isReading = false;
      await Promise.all(reading);
      expect(faults).toEqual([]);
      expect(ascending(stored)).toEqual(ascending(answered));
      for (const seen of seenBy) expect(seen).toEqual(stored);
    },
  };
};
