import { randomBytes } from 'node:crypto';
import { deliveriesOf } from '../../../test/support/clients/deliver.ts';
import { ask, outcomeOf } from '../ask.ts';
import { credentialsOf, type Family } from '../family.ts';
import { walletOf } from '../wallets.ts';

const LISTS = [
  `wallet(address: "${walletOf('honest', 1)}") { transactions(first: 5, after: $after) { nodes { hash } } }`,
  `wallet(address: "${walletOf('honest', 1)}") { collectibles(first: 5, after: $after) { nodes { tokenId } } }`,
  'deliveries(first: 5, after: $after) { nodes { id } }',
];

/** The cursor with one character changed. */
const mutated = (cursor: string): string => {
  const at = Math.floor(Math.random() * cursor.length);
  return (
    cursor.slice(0, at) + String.fromCharCode(33 + Math.floor(Math.random() * 90)) + cursor.slice(at + 1)
  );
};

export const forgedCursors: Family = {
  name: 'forged cursors',
  atOnce: 2,
  pauseMs: 50,
  async prepare(gatewayUrl) {
    const headers = await credentialsOf('forger');
    const { head } = await deliveriesOf(gatewayUrl, headers);
    const { head: foreign } = await deliveriesOf(gatewayUrl, await credentialsOf('scanned'));
    const cursors = [
      () => mutated(head),
      () => foreign,
      () => randomBytes(30).toString('base64url'),
      () => 'x'.repeat(10_000),
      () => '',
    ];
    return async (number, signal) => {
      const after = cursors[number % cursors.length]?.();
      const subscription = number % 4 === 3;
      const query = subscription
        ? 'subscription ($after: String) { deliveries(after: $after) { cursor } }'
        : `query ($after: String) { ${LISTS[number % LISTS.length]} }`;
      const accept = subscription ? 'text/event-stream' : 'application/json';
      const answer = await ask({
        url: `${gatewayUrl}/graphql`,
        headers: { ...headers, accept },
        body: { query, variables: { after } },
        // A subscription after a cursor that happens to be good would never end.
        signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]),
      });
      return outcomeOf(answer);
    };
  },
};
