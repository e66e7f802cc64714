import { gzipSync } from 'node:zlib';
import { deliveriesOf } from '../../../test/support/clients/deliver.ts';
import { ask, outcomeOf } from '../ask.ts';
import { credentialsOf, type Family } from '../family.ts';

const MB = 1024 * 1024;
const BURST = 20;

/**
 * Ends of bodies, compressed once: the beginning, a gzip member of its own, makes each body unlike the others. These
 * two are within the limits of a body; of the second every number is within those of JSON values too.
 */
const dense = [gzipSync(`${'1e1,'.repeat(1_200_000)}1]`), gzipSync(`${'1e99,'.repeat(240_000)}1]`)];
const expensiveDocuments = [
  gzipSync(`${' '.repeat(4.9 * MB)}1`),
  gzipSync(`${'1e1,'.repeat(10 * MB)}1]`),
  gzipSync(Buffer.alloc(50 * MB, '[')),
];

/** A burst of small posts that are big once inflated. Only two of them are stored. */
export const denseDeliveries: Family = {
  name: 'dense and compressed deliveries',
  atOnce: 1,
  pauseMs: 4000,
  async prepare(gatewayUrl) {
    const { deliveryUrl } = await deliveriesOf(gatewayUrl, await credentialsOf('flooded'));
    const headers = { 'content-encoding': 'gzip' };
    return async (number, signal) => {
      const post = async (index: number): Promise<string> => {
        const end = dense[index] ?? expensiveDocuments[index % expensiveDocuments.length] ?? Buffer.alloc(0);
        const body = Buffer.concat([gzipSync(`[${number},${index},`), end]);
        return outcomeOf(await ask({ url: deliveryUrl, headers, body, signal }));
      };
      const outcomes = await Promise.all(Array.from({ length: BURST }, (_, index) => post(index)));
      return [...new Set(outcomes)].toSorted().join(' and ');
    };
  },
};
