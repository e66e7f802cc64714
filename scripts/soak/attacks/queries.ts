import { activity, deliver, deliveriesOf } from '../../../test/support/clients/deliver.ts';
import { openRawSocket, subscribeMessage } from '../../../test/support/clients/raw-socket.ts';
import { ask } from '../ask.ts';
import { BAD_KINDS, STRAY, THENABLE, walletOf } from '../wallets.ts';
import { type Attack, asking, credentialsOf, inTurn, times } from './attack.ts';

const ALL = 'nodes { id hash from to value data blockTime blockNumber logs { address data topics } }';
const EVENTS = 'events { __typename ... on Activity { transactionHash from to value tokenAddress } }';

/** Names `count` wallets, of which only `different` differ, each with `each` lists. */
const wallets = (count: number, different: number, each: number) => ({
  query: `query ($all: [Address!]!) { wallets(addresses: $all) {
    ${times(each, (index) => `a${index}: transactions(first: 1000) { ${ALL} }`)}
  } }`,
  variables: { all: Array.from({ length: count }, (_, index) => walletOf('big', index % different)) },
});

const ANSWERS = [
  wallets(1, 1, 2),
  wallets(1, 1, 49),
  wallets(30, 1, 49),
  wallets(100, 1, 1),
  wallets(100, 100, 1),
  wallets(10, 10, 49),
  {
    query: `{ deliveries(last: 1000) { nodes { payload ${times(30, (index) => `e${index}: ${EVENTS}`)} } } }`,
  },
] as const;

const giantAnswers: Attack = {
  name: 'giant answers',
  holds: 'each is sent, or refused for its weight',
  ends: /^(200|OPERATION_TOO_COMPLEX)$/,
  atOnce: 2,
  pauseMs: 1500,
  prepare: asking('scanned', (number) => inTurn(ANSWERS, number)),
};

const badService: Attack = {
  name: 'a service that misbehaves',
  holds: 'what the contract does not allow is refused, or given up on a busy machine',
  ends: /^(200|UPSTREAM_INVALID_RESPONSE|UPSTREAM_TIMEOUT)$/,
  atOnce: 2,
  pauseMs: 1500,
  prepare: asking('curious', (number) => ({
    query: `{ wallet(address: "${walletOf(inTurn(BAD_KINDS, number), number)}") {
      transactions(first: 1000) { nodes { hash value decoded { inputs { value } } } pageInfo { endCursor } }
    } }`,
  })),
};

const [called] = activity(1).activities;

/** JSON of the service and of a delivery, and an object of the client's own aliases. */
const thenables: Attack = {
  name: 'values with a property `then`',
  holds: 'they are values, and no promises',
  ends: /^200$/,
  atOnce: 1,
  pauseMs: 300,
  async prepare(gatewayUrl, made) {
    const { deliveryUrl } = await deliveriesOf(gatewayUrl, await credentialsOf('thenable'));
    await deliver(deliveryUrl, { body: { activities: [{ ...called, function: JSON.parse(THENABLE) }] } });
    const strike = asking('thenable', (number) => ({
      query: `{
        deliveries(last: 1) { nodes { payload events { ... on Activity { function } } } }
        then: wallet(address: "${walletOf('thenable', number)}") {
          then: address transactions { nodes { decoded { inputs { value } } } }
        }
      }`,
    }));
    return strike(gatewayUrl, made);
  },
};

const ROWS = 20_000;
const SENDERS = 32;
const ADDRESS = '0x00000000000000000000000000000000000000aa';

/** Each condition alone matches many deliveries; together they match none. */
const NEVER = [
  `{ address: "${ADDRESS}", chainIds: [987654321] }`,
  `{ address: "${ADDRESS}", types: [BALANCES] }`,
  `{ chainIds: [1], webhookIds: ["019a7b1c-0000-7d1e-8a30-000000000000"] }`,
] as const;

const scans: Attack = {
  name: 'searches that find nothing in a long log',
  holds: 'each is answered, or refused until there is room',
  ends: /^(200|RATE_LIMITED)$/,
  atOnce: 6,
  pauseMs: 1000,
  async prepare(gatewayUrl, made) {
    const { deliveryUrl } = await deliveriesOf(gatewayUrl, await credentialsOf('scanned'));
    let row = 0;
    const sender = async () => {
      while (row < ROWS) {
        row += 1;
        await deliver(deliveryUrl, { type: 'ACTIVITIES', chainId: 1, body: activity(row, ADDRESS) });
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, sender));
    const scan = (filter: string) => (index: number) =>
      `s${index}: deliveries(last: 20, filter: ${filter}) { nodes { id } }`;
    return asking('scanned', (number) => ({ query: `{ ${times(25, scan(inTurn(NEVER, number)))} }` }))(
      gatewayUrl,
      made,
    );
  },
};

/** About 11 KB and 1,800 tokens, unlike any other, and within the limits of a document: expensive to validate. */
const different = (number: number): string =>
  `#${'x'.repeat(5000)}\n query Q${number} { wallet(address: "0x${'00'.repeat(20)}") { ${times(
    150,
    () => 'transactions(first: 5) { nodes { hash } }',
  )} } }`;

const TOKENS = ['', 'Bearer none', `Bearer ${'a'.repeat(20)}.${'b'.repeat(200)}.${'c'.repeat(43)}`] as const;

const strangers: Attack = {
  name: 'expensive documents without a valid token',
  holds: 'credentials are judged first',
  ends: /^(UNAUTHENTICATED|closed with 4403)$/,
  atOnce: 4,
  pauseMs: 60,
  prepare: (gatewayUrl) => async (number, signal) => {
    const query = different(number);
    if (number % 8 === 0) {
      const client = await openRawSocket(gatewayUrl, () => {}, { authorization: TOKENS[1] });
      client.write(subscribeMessage(query));
      return `closed with ${await client.closed}`;
    }
    const authorization = inTurn(TOKENS, number);
    const accept = number % 2 === 0 ? 'text/event-stream' : 'application/json';
    const headers = { accept, ...(authorization && { authorization }) };
    return (await ask(`${gatewayUrl}/graphql`, { headers, body: { query }, signal })).outcome;
  },
};

const NAMES = [
  `watchWallet ${STRAY} b`,
  `watchWallet ../../../v1/${STRAY}?y=1&`,
  `watchWallet %2e%2e/%2e%2e/${STRAY}`,
  `watchWallet ${walletOf('honest', 1)}?chain_ids=1&${STRAY}=`,
  `watchWallet ${walletOf('honest', 1)}#${STRAY}`,
] as const;

const CREATE = `mutation ($input: CreateWebhookInput!) {
  createWebhook(input: $input) { ... on CreateWebhookPayload { webhook { webhookId } } }
}`;
const DELETE = 'mutation ($input: DeleteWebhookInput!) { deleteWebhook(input: $input) { __typename } }';
const WATCHED = `{ watchedWallets(first: 100) { nodes {
  wallet { address transactions(first: 1) { nodes { hash } } collectibles(first: 1, chainIds: [1]) { nodes { tokenId } } }
} } }`;

const names: Attack = {
  name: 'names of webhooks that are paths',
  holds: 'no name is a watch, and none gets into a request',
  ends: /^200$/,
  atOnce: 4,
  pauseMs: 200,
  async prepare(gatewayUrl) {
    const headers = await credentialsOf('namer');
    const send = (signal: AbortSignal, query: string, input?: object) =>
      ask(`${gatewayUrl}/graphql`, { headers, body: { query, variables: { input } }, signal });
    return async (number, signal) => {
      const input = { name: inTurn(NAMES, number), type: 'ACTIVITIES', addresses: [walletOf('honest', 1)] };
      const created = await send(signal, CREATE, input);
      const webhookId = JSON.parse(created.text).data?.createWebhook?.webhook?.webhookId;
      if (webhookId === undefined) return created.outcome;
      const watched = await send(signal, WATCHED);
      await send(signal, DELETE, { webhookId });
      return watched.outcome;
    };
  },
};

/** Attacks by what is asked for, and by what the service says to it. */
export const QUERIES: readonly Attack[] = [giantAnswers, badService, thenables, scans, strangers, names];
