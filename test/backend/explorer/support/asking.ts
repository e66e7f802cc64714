import type { ExplorerChain } from '../../../../src/backend/explorer/client/chain.ts';
import {
  createExplorerClient,
  type ExplorerClient,
  type ExplorerClientOptions,
} from '../../../../src/backend/explorer/client/client.ts';
import { ExplorerError } from '../../../../src/backend/explorer/client/errors.ts';
import { type ListOperation, OPERATIONS } from '../../../../src/backend/explorer/client/operations.ts';
import type { Cursor } from '../../../../src/backend/explorer/client/order.ts';
import type { Hex } from '../../../../src/backend/types.ts';
import { createStandingClock } from '../../../support/blockscout/clock.ts';
import type { Contents } from '../../../support/blockscout/contents.ts';
import { ART, TOKEN, WALLET } from '../../../support/blockscout/made-up.ts';
import { hashOf } from '../../indexer/support/blocks.ts';

export const KEY = 'proapi_very-secret-0123456789';

/** A client on a clock that stands still, except while it waits for its turn. */
export const startAsking = (options: Partial<ExplorerClientOptions> = {}) => {
  const clock = createStandingClock();
  const client = createExplorerClient({ userAgent: 'gateway-test/1.0', clock, ...options });
  const isBusy = () => client.state().some(({ running }) => running > 0);
  return {
    clock,
    client,
    /** Resolves as `work` does, with the clock going on meanwhile. */
    until: <Result>(work: Promise<Result>) => clock.until(work, isBusy),
    [Symbol.asyncDispose]: () => client.close(),
  };
};

/** The fault that a promise rejects with. */
export const faultOf = async (work: Promise<unknown>) => {
  const problem: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (problem instanceof ExplorerError) return problem.fault;
  throw problem ?? new Error('expected a fault, got an answer');
};

/** The newest transactions of the wallet. */
export const askTransactions = (client: ExplorerClient, chain: ExplorerChain, asker = 'one') =>
  client.list(chain, OPERATIONS.addressTransactions, { address: WALLET }, null, client.lookup(asker));

/** A list of the wallet's or its tokens', and the rows that it must have. */
const listed = <Parameters, Row>(
  operation: ListOperation<Parameters, Row>,
  parameters: Parameters,
  idOf: (row: Row) => string,
  expected: (contents: Contents) => readonly string[],
) => {
  const page = (client: ExplorerClient, chain: ExplorerChain, cursor: Cursor | null = null, limit?: number) =>
    client.list(chain, operation, parameters, cursor, client.lookup('walk'), limit);
  return {
    name: operation.name,
    expected,
    idOf,
    page,
    /** As `page`, of the top, whatever its rows are. */
    ask: (client: ExplorerClient, chain: ExplorerChain): Promise<unknown> => page(client, chain),
    /** Walks to the end, each page in a lookup of its own. */
    async walk(client: ExplorerClient, chain: ExplorerChain, limit?: number) {
      const ids: string[] = [];
      let pages = 0;
      for (let cursor: Cursor | null = null; cursor !== null || pages === 0; pages += 1) {
        const { items, next } = await page(client, chain, cursor, limit);
        ids.push(...items.map(idOf));
        cursor = next;
      }
      return { ids, pages };
    },
  };
};

const isWallets = ({ from, to }: { readonly from: Hex; readonly to: Hex | null }): boolean =>
  from === WALLET || to === WALLET;

const minedOf = ({ transactions }: Contents): readonly string[] =>
  transactions.filter((each) => each.block !== null && isWallets(each)).map(({ hash }) => hash);

/** All lists. */
export const LISTS = [
  listed(OPERATIONS.addressTransactions, { address: WALLET }, ({ hash }) => hash, minedOf),
  listed(
    OPERATIONS.addressTokenTransfers,
    { address: WALLET },
    ({ log_index, total }) => `${log_index} ${total?.token_id ?? ''}`,
    ({ transfers }) =>
      transfers.filter(isWallets).map(({ logIndex, tokenId }) => `${logIndex} ${tokenId ?? ''}`),
  ),
  listed(
    OPERATIONS.addressInternalTransactions,
    { address: WALLET },
    ({ transaction_hash, index }) => `${transaction_hash} ${index}`,
    ({ internals }) => internals.map(({ transaction, index }) => `${transaction.hash} ${index}`),
  ),
  listed(
    OPERATIONS.addressTokens,
    { address: WALLET, types: ['ERC-20'] },
    ({ token, value }) => `${token.address_hash} ${value}`,
    ({ holdings }) =>
      holdings
        .filter(({ owner, tokenId }) => owner === WALLET && tokenId === null)
        .map(({ token, value }) => `${token} ${value}`),
  ),
  listed(
    OPERATIONS.addressNft,
    { address: WALLET },
    ({ token, id }) => `${token.address_hash} ${id}`,
    ({ holdings }) =>
      holdings.filter(({ tokenId }) => tokenId !== null).map(({ token, tokenId }) => `${token} ${tokenId}`),
  ),
  listed(
    OPERATIONS.transactionLogs,
    { hash: hashOf('transaction', 0) },
    ({ index, topics }) => `${index} ${topics.join()}`,
    ({ transactions }) =>
      (transactions[0]?.logs ?? []).map(({ index, topics }) => `${index} ${topics.join()}`),
  ),
  listed(
    OPERATIONS.transactionTransfers,
    { hash: hashOf('transaction', 0) },
    ({ log_index, total }) => `${log_index} ${total?.token_id ?? ''}`,
    ({ transfers }) =>
      transfers
        .filter(({ transaction }) => transaction.hash === hashOf('transaction', 0))
        .map(({ logIndex, tokenId }) => `${logIndex} ${tokenId ?? ''}`),
  ),
  listed(
    OPERATIONS.transactionInternals,
    { hash: hashOf('transaction', 0) },
    ({ index, value }) => `${index} ${value}`,
    ({ internals }) =>
      internals
        .filter(({ transaction }) => transaction.hash === hashOf('transaction', 0))
        .map(({ index, value }) => `${index} ${value}`),
  ),
  listed(
    OPERATIONS.tokenHolders,
    { token: TOKEN },
    ({ address, value }) => `${address.hash} ${value}`,
    ({ holdings }) =>
      holdings.filter(({ token }) => token === TOKEN).map(({ owner, value }) => `${owner} ${value}`),
  ),
  listed(
    OPERATIONS.nftTransfers,
    { token: ART, id: 6n },
    ({ log_index }) => String(log_index),
    ({ transfers }) =>
      transfers.filter(({ tokenId }) => tokenId === 6n).map(({ logIndex }) => String(logIndex)),
  ),
  listed(
    OPERATIONS.tokens,
    { query: 'coin', types: ['ERC-20'] },
    ({ address_hash }) => address_hash,
    ({ tokens }) =>
      [...tokens.values()].filter(({ name }) => name?.startsWith('Coin')).map((each) => each.address),
  ),
  listed(
    OPERATIONS.blocks,
    {},
    ({ hash }) => hash,
    ({ blocks }) => blocks.map(({ hash }) => hash),
  ),
  listed(OPERATIONS.txlist, { address: WALLET, pageSize: 40 }, ({ hash }) => hash, minedOf),
] as const;
