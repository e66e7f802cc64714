import { ask, outcomeOf } from '../ask.ts';
import { credentialsOf, type Family, times } from '../family.ts';
import { walletOf } from '../wallets.ts';

const ALIASES = 49;
const ALL = 'nodes { id hash from to value data blockTime blockNumber logs { address data topics } }';

const aliases = (count: number) => times(count, (index) => `a${index}: transactions(first: 1000) { ${ALL} }`);

/** Names `count` wallets, of which only `different` differ, each with `each` lists. */
const wallets = (count: number, different: number, each: number) => ({
  query: `query ($all: [Address!]!) { wallets(addresses: $all) { ${aliases(each)} } }`,
  variables: { all: Array.from({ length: count }, (_, index) => walletOf('big', index % different)) },
});

const EVENTS = 'events { __typename ... on Activity { transactionHash from to value tokenAddress } }';

const ANSWERS = [
  wallets(1, 1, 2),
  wallets(1, 1, ALIASES),
  wallets(30, 1, ALIASES),
  wallets(100, 1, 1),
  wallets(100, 100, 1),
  wallets(10, 10, ALIASES),
  {
    query: `{ deliveries(last: 1000) { nodes { payload ${times(30, (index) => `e${index}: ${EVENTS}`)} } } }`,
  },
];

export const giantAnswers: Family = {
  name: 'giant answers',
  atOnce: 2,
  pauseMs: 1500,
  async prepare(gatewayUrl) {
    const headers = await credentialsOf('scanned');
    return async (number, signal) => {
      const body = ANSWERS[number % ANSWERS.length];
      return outcomeOf(
        await ask({ url: `${gatewayUrl}/graphql`, headers, body: body ?? '', whole: false, signal }),
      );
    };
  },
};
