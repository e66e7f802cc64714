import type { Gateway, GraphQLReply } from '../gateway/start.ts';

const document = `query ($address: Address!) {
  wallet(address: $address) { transactions(first: 5) { requestTime nodes { hash } } }
}`;

type Answer = { wallet: { transactions: { requestTime: string | null; nodes: { hash: string }[] } | null } };

/** Sends the query that a dashboard polls: a wallet's newest transactions, and how old they are. */
export const poll = (
  gateway: Gateway,
  address: string,
  headers: Record<string, string> = {},
): Promise<GraphQLReply<Answer>> => gateway.query<Answer>(document, { address }, headers);

export const requestTimeOf = ({ data }: GraphQLReply<Answer>): string | null | undefined =>
  data?.wallet.transactions?.requestTime;

export const newestOf = ({ data }: GraphQLReply<Answer>): string | undefined =>
  data?.wallet.transactions?.nodes[0]?.hash;

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
