import type { Ledger } from '../chain/ledger.ts';
import type { SandboxChain } from '../chains.ts';
import type { Collection } from '../evm/collections.ts';
import type { Contracts } from '../evm/contracts.ts';
import type { Random } from '../evm/random.ts';
import type { Hex, Token } from '../types.ts';
import type { UnsignedTransaction } from './unsigned-transaction.ts';

/** Where a scene plays: one chain, at one block's time. */
export type TemplateContext = {
  readonly chain: SandboxChain;
  readonly contracts: Contracts;
  readonly ledger: Ledger;
  readonly random: Random;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Everybody whom the demo wallets deal with. */
  readonly crowd: readonly Hex[];
};

/** Something that a wallet does, or that is done to it; null when it has not what that takes. */
export type TransactionTemplate = (context: TemplateContext, wallet: Hex) => UnsignedTransaction | null;

/** A wallet that holds so many NFTs gives one away before it mints another: memory is bounded, however long it runs. */
const MOST_HELD = 4_000;

export const isFull = ({ ledger }: TemplateContext, wallet: Hex): boolean =>
  ledger.holdings.count(wallet) >= MOST_HELD;

/** A small part of what an account has, in round figures; 0 when it has nothing. A null token is the native asset. */
export const someOf = ({ ledger, random }: TemplateContext, account: Hex, token: Token | null): bigint => {
  const part = (ledger.balance(account, token) * BigInt(random.between(1, 40))) / 1_000n;
  const unit = 10n ** BigInt(Math.max(0, part.toString().length - 3));
  return (part / unit) * unit;
};

export const deadline = ({ time }: TemplateContext): bigint => BigInt(time / 1000 + 1_200);

/** A collection of that standard that people want. */
export const someCollection = (
  { contracts, random }: TemplateContext,
  standard: 'erc721' | 'erc1155',
): Collection => random.pick(contracts.collections.filter(({ token }) => token.standard === standard));

/** What the wallet holds of known contracts on this chain. */
export const heldHere = (
  { chain, contracts, ledger }: TemplateContext,
  wallet: Hex,
  standard: Token['standard'],
) =>
  ledger.holdings.of(
    wallet,
    ({ token }) =>
      token.chain.id === chain.id && token.standard === standard && contracts.tokens.has(token.address),
  );
