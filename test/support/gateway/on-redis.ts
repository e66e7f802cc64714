import { activity, deliver, deliveriesOf, deliverUntilStored } from '../clients/deliver.ts';
import { clientOf } from '../clients/graphql-client.ts';
import { sleep } from '../clients/queries.ts';
import type { Edge } from '../clients/subscribe.ts';

/** Reads a gateway's delivery URL, which is valid at every gateway on the same Redis. */
export const deliveryPathOf = async (gatewayUrl: string): Promise<string> =>
  new URL((await deliveriesOf(gatewayUrl)).deliveryUrl).pathname;

/** The cursor at the end of the log. */
export const headOf = async (gatewayUrl: string): Promise<string> => (await deliveriesOf(gatewayUrl)).head;

/** Posts the delivery of this number; resolves with the status, or null without an answer. */
export const post = (gatewayUrl: string, path: string, number: number): Promise<number | null> =>
  deliver(gatewayUrl + path, { body: activity(number) });

export const store = (gatewayUrl: string, path: string, number: number): Promise<void> =>
  deliverUntilStored(gatewayUrl + path, { body: activity(number) });

/** The number of a posted delivery. */
export const numberOf = ({ node }: Pick<Edge, 'node'>): number =>
  (node.payload as ReturnType<typeof activity>).activities[0]?.block_number ?? -1;

/** The deliveries in the log after a cursor, in its order. It repeats what a gateway can't read before it is connected again. */
export const readLog = async (gatewayUrl: string, start: string, headers: Record<string, string> = {}) => {
  const stored: { readonly cursor: string; readonly number: number }[] = [];
  for (let after = start; ; ) {
    const { data } = await clientOf(gatewayUrl).query<{
      deliveries: { edges: Edge[]; pageInfo: { hasNextPage: boolean; endCursor: string } } | null;
    }>(
      `{ deliveries(first: 1000${after && `, after: "${after}"`}) {
        edges { cursor node { payload } }
        pageInfo { hasNextPage endCursor }
      } }`,
      {},
      headers,
    );
    const deliveries = data?.deliveries ?? null;
    if (deliveries === null) {
      await sleep(50);
      continue;
    }
    for (const edge of deliveries.edges) stored.push({ cursor: edge.cursor, number: numberOf(edge) });
    if (!deliveries.pageInfo.hasNextPage) return stored;
    after = deliveries.pageInfo.endCursor;
  }
};

/** The numbers of all deliveries in the log, in its order. */
export const everythingStored = async (gatewayUrl: string): Promise<number[]> =>
  (await readLog(gatewayUrl, '')).map(({ number }) => number);
