import type { Ledger } from '../chain/ledger.ts';
import type { SandboxChain } from '../chains.ts';
import type { Collection } from '../evm/collections.ts';
import type { Contracts } from '../evm/contracts.ts';
import type { Random } from '../evm/random.ts';
import type { Hex, Token } from '../types.ts';
import type { UnsignedTransaction } from './unsigned-transaction.ts';

/** The surroundings of a transaction template: one chain at the time of one block. */
export type TemplateContext = {
  readonly chain: SandboxChain;
  readonly contracts: Contracts;
  readonly ledger: Ledger;
  readonly random: Random;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The fixed addresses that the demo wallets transact with. */
  readonly counterparties: readonly Hex[];
};

/** Makes one kind of transaction of a wallet, sent or received; null when the wallet lacks what it needs. */
export type TransactionTemplate = (context: TemplateContext, wallet: Hex) => UnsignedTransaction | null;

/**
 * A wallet that holds this many NFTs sends one away before it mints another. That bounds the memory, however long the
 * sandbox runs.
 */
const MAX_HOLDINGS = 4_000;

export const isFull = ({ ledger }: TemplateContext, wallet: Hex): boolean =>
  ledger.holdings.count(wallet) >= MAX_HOLDINGS;

/**
 * A small part of the account's balance, as a round number; 0 when the balance is 0. A null token is the native asset.
 */
export const randomAmount = (
  { ledger, random }: TemplateContext,
  account: Hex,
  token: Token | null,
): bigint => {
  const part = (ledger.balance(account, token) * BigInt(random.between(1, 40))) / 1_000n;
  const unit = 10n ** BigInt(Math.max(0, part.toString().length - 3));
  return (part / unit) * unit;
};

export const deadline = ({ time }: TemplateContext): bigint => BigInt(time / 1000 + 1_200);

/** A genuine collection of a standard. */
export const randomCollection = (
  { contracts, random }: TemplateContext,
  standard: 'erc721' | 'erc1155',
): Collection => random.pick(contracts.collections.filter(({ token }) => token.standard === standard));

/** The wallet's holdings of known contracts on this chain. */
export const holdingsOnChain = (
  { chain, contracts, ledger }: TemplateContext,
  wallet: Hex,
  standard: Token['standard'],
) =>
  ledger.holdings.of(
    wallet,
    ({ token }) =>
      token.chain.id === chain.id && token.standard === standard && contracts.tokens.has(token.address),
  );
