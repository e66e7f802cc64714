import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Hex } from '../../../../src/backend/types.ts';
import type { Gateway } from '../../../support/gateway/start.ts';
import { accountsOf, type Contract, rpc } from './contracts.ts';

type Client = Pick<Gateway, 'query'>;

/** What is asked for: a wallet, a coin and a collection of NFTs. */
export type Subjects = {
  readonly url: string;
  readonly wallet: Hex;
  readonly coin: Contract;
  readonly art: Contract;
};

const CHAIN = 31_337;

type Nodes = { readonly nodes: readonly Readonly<Record<string, unknown>>[] };
type Data = {
  readonly wallet: Readonly<Record<string, Nodes & { readonly amount: string }>> | undefined;
  readonly token: { readonly market?: { readonly totalSupply: string }; readonly holders?: Nodes };
  readonly searchTokens: { readonly nodes: readonly { readonly symbol: string }[] };
  readonly chain: { readonly index: { readonly to: string } };
};

const ofWallet = (fields: string) => `query ($wallet: Address!) { wallet(address: $wallet) { ${fields} } }`;
const ofToken = (fields: string) =>
  `query ($coin: Address!) { token(token: { contract: { chainId: ${CHAIN}, address: $coin } }) { ${fields} } }`;

/** A lookup, and what it is to say of a block, by the chain itself. */
type Lookup = {
  readonly document: string;
  readonly said: (data: Data) => unknown;
  readonly due: (subjects: Subjects, hash: string) => unknown;
};

const balanceOf = ({ url, wallet }: Subjects) =>
  rpc(url, 'eth_getBalance', wallet, 'latest').then((amount) => String(BigInt(String(amount))));
const coinsOf = async ({ coin, wallet }: Subjects) => String(await coin.read('balanceOf', wallet));

export const LOOKUPS = {
  transactions: {
    document: ofWallet('transactions(first: 1) { nodes { hash } }'),
    said: ({ wallet }) => wallet?.transactions?.nodes[0]?.hash,
    due: (_subjects, hash) => hash,
  },
  activity: {
    document: ofWallet('activity(first: 1) { nodes { transactionHash } }'),
    said: ({ wallet }) => wallet?.activity?.nodes[0]?.transactionHash,
    due: (_subjects, hash) => hash,
  },
  native: {
    document: ofWallet('balances(assetClass: NATIVE) { nodes { amount } }'),
    said: ({ wallet }) => wallet?.balances?.nodes[0]?.amount,
    due: balanceOf,
  },
  balances: {
    document: ofWallet('balances { nodes { amount } }'),
    said: ({ wallet }) => wallet?.balances?.nodes[1]?.amount,
    due: coinsOf,
  },
  balance: {
    document: `query ($wallet: Address!, $coin: Address!) {
      wallet(address: $wallet) { balance(token: { contract: { chainId: ${CHAIN}, address: $coin } }) { amount } }
    }`,
    said: ({ wallet }) => wallet?.balance?.amount,
    due: coinsOf,
  },
  collectibles: {
    document: ofWallet('collectibles(first: 100) { nodes { tokenId } }'),
    said: ({ wallet }) => wallet?.collectibles?.nodes.length,
    due: async ({ art, wallet }) => Number(await art.read('balanceOf', wallet)),
  },
  holders: {
    document: ofToken('holders { nodes { balance wallet { address } } }'),
    said: ({ token }) => token.holders?.nodes[0]?.balance,
    due: coinsOf,
  },
  market: {
    document: ofToken('market { totalSupply }'),
    said: ({ token }) => token.market?.totalSupply,
    due: async ({ coin }) => String(await coin.read('totalSupply')),
  },
  search: {
    document: '{ searchTokens(query: "fresh") { nodes { symbol } } }',
    said: ({ searchTokens }) => searchTokens.nodes.length,
    // The coin, and those of the issuer, which creates and mints each.
    due: async ({ url }) =>
      1 + Number(await rpc(url, 'eth_getTransactionCount', await issuerOf(url), 'latest')) / 2,
  },
  index: {
    document: `{ chain(chainId: ${CHAIN}) { index { to } } }`,
    said: ({ chain }) => chain.index.to,
    due: async ({ url }) => String(BigInt(String(await rpc(url, 'eth_blockNumber')))),
  },
} satisfies Record<string, Lookup>;

export type LookupName = keyof typeof LOOKUPS;

/** The account that issues coins called fresh. */
export const issuerOf = async (url: string): Promise<Hex> => (await accountsOf(url)).at(-1) ?? '0x';

/** Undefined for an answer with an error, as while the first blocks are indexed. */
const ask = async ({ query }: Client, { wallet, coin }: Subjects, name: LookupName): Promise<unknown> => {
  const { data, errors } = await query<Data>(LOOKUPS[name].document, { wallet, coin: coin.address });
  return data && !errors ? LOOKUPS[name].said(data) : undefined;
};

/**
 * Asks a gateway for these lookups until each says what the chain says. Resolves with the milliseconds that each has taken
 * from now on. `hash` is the wallet's last transaction.
 */
export const untilTold = async (
  client: Client,
  subjects: Subjects,
  hash: string,
  names: readonly LookupName[],
): Promise<ReadonlyMap<LookupName, number>> => {
  const minedAt = performance.now();
  const times = await Promise.all(
    names.map(async (name) => {
      const lookup: Lookup = LOOKUPS[name];
      const due = await lookup.due(subjects, hash);
      while (!isDeepStrictEqual(await ask(client, subjects, name), due)) await sleep(10);
      return [name, performance.now() - minedAt] as const;
    }),
  );
  return new Map(times);
};
