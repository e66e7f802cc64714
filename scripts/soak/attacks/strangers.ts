import { openRawSocket, subscribeMessage } from '../../../test/support/clients/raw-socket.ts';
import { ask, outcomeOf } from '../ask.ts';
import { type Family, times } from '../family.ts';

const PADDING = `#${'x'.repeat(5000)}\n`;

/** About 11 KB and 1,800 tokens, unlike any other, and within the limits of a document: dear to validate. */
const different = (number: number): string =>
  `${PADDING} query Q${number} { wallet(address: "0x${'00'.repeat(20)}") { ${times(
    150,
    () => 'transactions(first: 5) { nodes { hash } }',
  )} } }`;

const TOKENS = ['', 'Bearer none', `Bearer ${'a'.repeat(20)}.${'b'.repeat(200)}.${'c'.repeat(43)}`];

/** Clients without a valid token, whose documents are dear to parse and to validate. */
export const strangers: Family = {
  name: 'strangers',
  atOnce: 4,
  pauseMs: 60,
  prepare: (gatewayUrl) => async (number, signal) => {
    const query = different(number);
    if (number % 8 === 0) {
      const client = await openRawSocket(gatewayUrl, () => {}, { authorization: TOKENS[1] });
      client.write(subscribeMessage(query));
      const code = await client.closed;
      return `closed with ${code}`;
    }
    const authorization = TOKENS[number % TOKENS.length];
    const accept = number % 2 === 0 ? 'text/event-stream' : 'application/json';
    const headers = { accept, ...(authorization && { authorization }) };
    return outcomeOf(
      await ask({ url: `${gatewayUrl}/graphql`, headers, body: { query }, whole: false, signal }),
    );
  },
};
