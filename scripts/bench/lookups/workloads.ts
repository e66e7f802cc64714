import { AFTER, LARGE_WALLET, type Template, walletAt } from '../load/requests.ts';
import { createRandom } from './random.ts';

/** The operations of the bench. Every server has the types and fields that they select. */

const TRANSACTION =
  'address blockHash blockNumber blockTime chain from to data gasPrice hash index nonce transactionType value';
const DECODED = 'decoded { name inputs { name type value } }';
const COLLECTIBLE = `contractAddress tokenStandard tokenId chain chainId name description symbol imageUrl
  lastSalePrice metadata { uri attributes { key value } } isSpam balance lastAcquired`;
const PAGE_INFO = 'pageInfo { hasNextPage endCursor }';
const SHORT = 'hash blockTime from to value';

const ofWallet = (field: string, variables = ''): string =>
  `query ($address: Address!${variables}) { wallet(address: $address) { ${field} } }`;

const transactions = (selection: string): string =>
  ofWallet(`transactions(first: 100) { ${selection} ${PAGE_INFO} }`);

const ALL_TRANSACTIONS = transactions(`nodes { ${TRANSACTION} logs { address topics data } }`);

const ALL_EDGES = transactions(`edges { cursor node { ${TRANSACTION} logs { address topics data } } }`);

const DECODED_TRANSACTIONS = transactions(
  `nodes { ${TRANSACTION} ${DECODED} logs { address topics data ${DECODED} } }`,
);

const FEW_TRANSACTIONS = ofWallet(`transactions(first: 20) { nodes { ${SHORT} } ${PAGE_INFO} }`);

const TEN_WALLETS = `query ($addresses: [Address!]!) {
  wallets(addresses: $addresses) {
    address
    transactions(first: 10) { nodes { ${SHORT} } }
    collectibles(first: 10) { nodes { contractAddress tokenId name imageUrl } }
  }
}`;

const ALL_COLLECTIBLES = ofWallet(`collectibles(first: 250) { nodes { ${COLLECTIBLE} } ${PAGE_INFO} }`);

const ALL_BALANCES = ofWallet(
  `balances(first: 1000) {
    nodes { chainId amount valueUsd priceUsd token { address symbol name decimals logo } }
    ${PAGE_INFO}
  }`,
);

const TOKEN = 'token { address symbol name decimals logo }';
const ACTIVITIES = ofWallet(
  `activity(first: 100) {
    nodes {
      type chainId blockNumber blockTime transactionHash from to value valueUsd ${TOKEN}
      swap { from { value ${TOKEN} } to { value ${TOKEN} } }
    }
    ${PAGE_INFO}
  }`,
);

const FIRST_SCREEN = ofWallet(
  `balances(first: 10) { nodes { amount valueUsd token { symbol decimals logo } } }
  activity(first: 20) { nodes { type blockTime value valueUsd token { symbol decimals } } }
  collectibles(first: 20) { nodes { tokenId name imageUrl } }`,
);

const HASHES = ofWallet('transactions(first: 100) { nodes { hash } }');

const TYPENAME = '{ __typename }';

const SCROLL = ofWallet(
  `transactions(first: 20, after: $after) { edges { cursor node { ${SHORT} } } ${PAGE_INFO} }`,
  ', $after: String',
);

const MIXED = 200;

/**
 * Documents that no cache of compiled documents knows from each other: each selects all that ALL_TRANSACTIONS selects, in
 * another order, under one alias of its own.
 */
const mixedDocuments = (): readonly string[] =>
  Array.from({ length: MIXED }, (_, number) => {
    const random = createRandom(number);
    const fields = [...TRANSACTION.split(' '), 'logs { address topics data }']
      .map((field) => ({ field, order: random.integer(1_000_000) }))
      .toSorted((one, other) => one.order - other.order)
      .map(({ field }, place) => (place === 0 ? `own${number}: ${field}` : field));
    return transactions(`nodes { ${fields.join(' ')} }`);
  });

/** What the raw proxy passes on for a workload: the bytes that a peer asks for, or the gateway's, which are whole pages. */
export type RawBytes = 'peer' | 'gateway';

export type Workload = {
  readonly name: string;
  readonly title: string;
  /** Sent in turns. */
  readonly documents: readonly string[];
  readonly variables: object;
  /** Of the raw proxy; the gateway's where they differ from those of its peers. */
  readonly raw: { readonly peer: string; readonly gateway?: string };
  /** Items that a right answer has, by the path of their list. Null for an answer without lists. */
  readonly items: { readonly path: readonly (string | number)[]; readonly count: number } | null;
  /**
   * What all servers must agree on, fields that the gateway does not convert: by its path in an item of an answer, its path
   * in an item of upstream's page, whose list is `entries`.
   */
  readonly compared: { readonly entries: string; readonly paths: Readonly<Record<string, string>> } | null;
  /** Requests of one session: all but the first continue where the one before them ended. */
  readonly pages: number;
  readonly connections: number;
  /** Requests a second; null: as fast as it answers. */
  readonly rate: number | null;
  /** In the place of `rate`: a share of the rate that the server has just reached. */
  readonly share: number | null;
  /** Whether the operations are sent over WebSockets, to servers that take queries there. */
  readonly isSocket: boolean;
  /** What is sent meanwhile over other connections, and does not count. */
  readonly beside: Workload | null;
  /** Whether the gateway is measured with pages that it has, too. */
  readonly hot: boolean;
};

const CONNECTIONS = 32;

const transactionsPath = (limit: number, query = '', wallet = 0): string =>
  `/v1/evm/transactions/${walletAt(wallet)}?limit=${limit}${query}`;
const collectiblesPath = (limit: number, wallet = 0): string =>
  `/v1/evm/collectibles/${walletAt(wallet)}?limit=${limit}`;

const TEN = Array.from({ length: 10 }, (_, wallet) => wallet);
const screenPaths = (balances: number, activity: number, collectibles: number): string =>
  [
    `/v1/evm/balances/${walletAt(0)}?limit=${balances}&metadata=logo`,
    `/v1/evm/activity/${walletAt(0)}?limit=${activity}`,
    collectiblesPath(collectibles),
  ].join(';');
const pathsOfTen = (transactions: number, collectibles: number): string =>
  TEN.flatMap((wallet) => [
    transactionsPath(transactions, '', wallet),
    collectiblesPath(collectibles, wallet),
  ]).join(';');

const workload = (
  name: string,
  title: string,
  document: string | readonly string[],
  rest: Partial<Workload> & Pick<Workload, 'raw'>,
): Workload => ({
  name,
  title,
  documents: [document].flat(),
  variables: { address: walletAt(0) },
  items: { path: ['wallet', 'transactions', 'nodes'], count: 100 },
  compared: null,
  pages: 1,
  connections: CONNECTIONS,
  rate: null,
  share: null,
  isSocket: false,
  beside: null,
  hot: false,
  ...rest,
});

const page = { raw: { peer: transactionsPath(100) } };
const few = {
  raw: { peer: transactionsPath(20), gateway: transactionsPath(100) },
  items: { path: ['wallet', 'transactions', 'nodes'], count: 20 },
};

const largePages = workload('large', 'pages of 5 MB', HASHES, {
  variables: { address: LARGE_WALLET },
  raw: { peer: `/v1/evm/transactions/${LARGE_WALLET}?limit=100` },
  connections: 2,
});

export const WORKLOADS: readonly Workload[] = [
  workload('W1', '100 transactions, all fields, 2 logs each', ALL_TRANSACTIONS, {
    ...page,
    compared: {
      entries: 'transactions',
      paths: {
        hash: 'hash',
        blockNumber: 'block_number',
        blockTime: 'block_time',
        chain: 'chain',
        from: 'from',
        to: 'to',
        data: 'data',
        'logs.0.topics': 'logs.0.topics',
        'logs.1.topics': 'logs.1.topics',
      },
    },
    hot: true,
  }),
  workload('W2', '20 transactions, 5 fields', FEW_TRANSACTIONS, { ...few, hot: true }),
  workload('W3', '10 wallets, each 10 transactions and 10 collectibles', TEN_WALLETS, {
    variables: { addresses: TEN.map(walletAt) },
    raw: { peer: pathsOfTen(10, 10), gateway: pathsOfTen(100, 250) },
    items: { path: ['wallets', 9, 'collectibles', 'nodes'], count: 10 },
  }),
  workload('W4', '250 collectibles with attributes', ALL_COLLECTIBLES, {
    raw: { peer: collectiblesPath(250) },
    items: { path: ['wallet', 'collectibles', 'nodes'], count: 250 },
    hot: true,
  }),
  workload('balances', '1,000 balances with their tokens and logos', ALL_BALANCES, {
    raw: { peer: `/v1/evm/balances/${walletAt(0)}?limit=1000&metadata=logo` },
    items: { path: ['wallet', 'balances', 'nodes'], count: 1000 },
    compared: {
      entries: 'balances',
      paths: {
        chainId: 'chain_id',
        amount: 'amount',
        'token.name': 'name',
        'token.decimals': 'decimals',
        'token.logo': 'token_metadata.logo',
      },
    },
    hot: true,
  }),
  workload('activity', '100 activities with their tokens and swaps', ACTIVITIES, {
    raw: { peer: `/v1/evm/activity/${walletAt(0)}?limit=100` },
    items: { path: ['wallet', 'activity', 'nodes'], count: 100 },
    compared: {
      entries: 'activity',
      paths: {
        transactionHash: 'tx_hash',
        to: 'to',
        value: 'value',
        'token.logo': 'token_metadata.logo',
        'swap.from.value': 'from_token_value',
        'swap.to.token.name': 'to_token_metadata.name',
      },
    },
    hot: true,
  }),
  workload('W5', '{ __typename }', TYPENAME, { variables: {}, raw: { peer: '/' }, items: null }),
  workload('W2ws', 'W2 over WebSocket', FEW_TRANSACTIONS, { ...few, hot: true, isSocket: true }),
  workload('W5ws', 'W5 over WebSocket', TYPENAME, {
    variables: {},
    raw: { peer: '/' },
    items: null,
    isSocket: true,
  }),
  workload('screen', "a wallet's first screen: three lists at once", FIRST_SCREEN, {
    raw: { peer: screenPaths(10, 20, 20), gateway: screenPaths(1000, 100, 250) },
    items: { path: ['wallet', 'collectibles', 'nodes'], count: 20 },
    hot: true,
  }),
  workload('edges', 'W1 with edges and cursors', ALL_EDGES, {
    ...page,
    items: { path: ['wallet', 'transactions', 'edges'], count: 100 },
  }),
  workload('decoded', 'W1 with decoded calls and events', DECODED_TRANSACTIONS, {
    raw: { peer: transactionsPath(100, '&decode=true') },
  }),
  workload('session', 'pages of 20: the first, and four scrolls', SCROLL, {
    variables: { address: walletAt(0), after: AFTER },
    raw: { peer: transactionsPath(20, `&offset=${AFTER}`) },
    items: { path: ['wallet', 'transactions', 'edges'], count: 20 },
    pages: 5,
  }),
  workload('one', 'W1 over one connection', ALL_TRANSACTIONS, { ...page, connections: 1 }),
  workload('half', 'W1 at half of its rate', ALL_TRANSACTIONS, { ...page, share: 0.5 }),
  workload('most', 'W1 at four fifths of its rate', ALL_TRANSACTIONS, { ...page, share: 0.8 }),
  workload('stall', 'W5, 200 times a second, beside pages of 5 MB', TYPENAME, {
    variables: {},
    raw: { peer: '/' },
    items: null,
    rate: 200,
    beside: largePages,
  }),
  workload('mixed', 'W1 as 200 different documents', mixedDocuments(), page),
];

/** What is sent to a server that answers GraphQL. */
export const templatesOf = ({ documents, variables, isSocket }: Workload): readonly Template[] =>
  documents.map((query) => ({ path: '/graphql', body: JSON.stringify({ query, variables }), isSocket }));

/** What is sent to the raw proxy: the same bodies, to upstream's path. */
export const rawTemplatesOf = (workload: Workload, bytes: RawBytes): readonly Template[] => {
  const { peer, gateway = peer } = workload.raw;
  return templatesOf(workload).map(({ body }) => ({ path: bytes === 'peer' ? peer : gateway, body }));
};
