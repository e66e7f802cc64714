import { ask, outcomeOf } from '../ask.ts';
import { credentialsOf, type Family } from '../family.ts';
import { KINDS, walletOf } from '../wallets.ts';

const BAD = KINDS.filter((kind) => kind !== 'honest' && kind !== 'big');

/** Lookups of wallets for which the service answers what it should not. */
export const badService: Family = {
  name: 'a service that misbehaves',
  atOnce: 2,
  pauseMs: 1500,
  async prepare(gatewayUrl) {
    const headers = await credentialsOf('curious');
    return async (number, signal) => {
      const kind = BAD[number % BAD.length] ?? 'empty items';
      const query = `{ wallet(address: "${walletOf(kind, number)}") {
        transactions(first: 1000) { nodes { hash value decoded { inputs { value } } } pageInfo { endCursor } }
      } }`;
      const answer = await ask({
        url: `${gatewayUrl}/graphql`,
        headers,
        body: { query },
        whole: false,
        signal,
      });
      return `${kind}: ${outcomeOf(answer)}`;
    };
  },
};
