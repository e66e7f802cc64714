import { scrape } from './prometheus.ts';

/** Waits until this many subscriptions read the log, as counted by the gateway itself. */
export const readersToBe = async (gatewayUrl: string, count: number): Promise<void> => {
  const deadline = Date.now() + 240_000;
  for (;;) {
    const readers = (await scrape(gatewayUrl)).sum('gateway_readers');
    if (readers === count) return;
    if (Date.now() > deadline) throw new Error(`expected ${count} readers within 240 s, got ${readers}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
