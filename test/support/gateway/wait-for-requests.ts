import { sleep } from '../clients/queries.ts';
import { scrape } from './prometheus.ts';

/** The scrape counts itself. */
const SCRAPE = 1;

/**
 * Waits until the gateway has this many requests in flight, and has answered one that came after them: by then it has read
 * and started all of them, however busy the machine is.
 */
export const requestsToBe = async (gatewayUrl: string, count: number): Promise<void> => {
  const inFlight = async () => (await scrape(gatewayUrl)).sum('gateway_http_requests_in_flight') - SCRAPE;
  while ((await inFlight()) !== count) await sleep(10);
  const response = await fetch(`${gatewayUrl}/graphql?query=%7B__typename%7D`);
  await response.text();
};
