import { activity, deliver, deliveriesOf } from '../../../test/support/clients/deliver.ts';
import { ask, outcomeOf } from '../ask.ts';
import { credentialsOf, type Family, times } from '../family.ts';

const ROWS = 20_000;
const SENDERS = 32;
const ADDRESS = '0x00000000000000000000000000000000000000aa';

/** Each condition alone matches many deliveries; together they match none. */
const NEVER = [
  `{ address: "${ADDRESS}", chainIds: [987654321] }`,
  `{ address: "${ADDRESS}", types: [BALANCES] }`,
  `{ chainIds: [1], webhookIds: ["019a7b1c-0000-7d1e-8a30-000000000000"] }`,
];

/** Searches of a log of many rows for what is not there. */
export const scans: Family = {
  name: 'scans that find nothing',
  atOnce: 6,
  pauseMs: 1000,
  async prepare(gatewayUrl) {
    const headers = await credentialsOf('scanned');
    const { deliveryUrl } = await deliveriesOf(gatewayUrl, headers);
    let row = 0;
    const sender = async () => {
      while (row < ROWS) {
        row += 1;
        await deliver(deliveryUrl, { type: 'ACTIVITIES', chainId: 1, body: activity(row, ADDRESS) });
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, sender));
    return async (number, signal) => {
      const filter = NEVER[number % NEVER.length];
      const scan = (index: number) => `s${index}: deliveries(last: 20, filter: ${filter}) { nodes { id } }`;
      const body = { query: `{ ${times(25, scan)} }` };
      return outcomeOf(await ask({ url: `${gatewayUrl}/graphql`, headers, body, signal }));
    };
  },
};
