import type { Event, Method } from '../../evm/abi.ts';
import { ZERO_ADDRESS } from '../../evm/address.ts';
import { erc20, wrapped } from '../../evm/standards.ts';
import type { Effect, Hex, LogEntry, Token, Transfer } from '../../types.ts';
import { erc721, erc1155 } from '../abi.ts';
import type { Ledger, TokenContract } from '../chain/ledger.ts';
import type { SandboxChain } from '../chains.ts';
import type { Contracts, NftToken, SandboxCollection } from '../contracts.ts';
import type { Random } from '../random.ts';

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
): SandboxCollection => random.pick(contracts.collections.filter(({ token }) => token.standard === standard));

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

/** A call by its method and arguments, or as raw bytes. It is encoded only when a reader needs its data. */
type Call = { readonly method: Method; readonly args: readonly unknown[] } | Hex;

/** A log by its event and arguments, or already encoded. */
type Emitted = { readonly address: Hex; readonly event: Event; readonly args: readonly unknown[] } | LogEntry;

/** The content of a transaction before it is mined. */
export type UnsignedTransaction = {
  readonly from: Hex;
  /** Null when the transaction creates a contract. */
  readonly to: Hex | null;
  readonly value: bigint;
  readonly call: Call;
  readonly logs: readonly Emitted[];
  readonly effects: readonly Effect[];
  readonly gas: number;
  readonly success: boolean;
  /** The contract that it creates. Default: none. */
  readonly created?: Hex;
  /** The data of the error that it reverts with. Default: none. */
  readonly revert?: Hex;
};

/** A part of a transaction: its effects, and the logs that describe them. */
export type Step = { readonly effects: readonly Effect[]; readonly logs: readonly Emitted[] };

type Sent = {
  readonly from: Hex;
  readonly to: Hex | null;
  readonly call?: Call;
  readonly value?: bigint;
  readonly gas: number;
  readonly created?: Hex;
};

/** A successful transaction with its steps in order. */
export const succeeded = (
  { call = '0x', value = 0n, ...sent }: Sent,
  ...steps: readonly Step[]
): UnsignedTransaction => ({
  ...sent,
  call,
  value,
  effects: steps.flatMap((step) => step.effects),
  logs: steps.flatMap((step) => step.logs),
  success: true,
});

/** A reverted transaction, without effects and logs, and the data of its error. */
export const reverted = (
  { call = '0x', value = 0n, ...sent }: Sent,
  revert: Hex = '0x',
): UnsignedTransaction => ({
  ...sent,
  revert,
  call,
  value,
  effects: [],
  logs: [],
  success: false,
});

type Parties = { readonly from: Hex; readonly to: Hex };
type Amount = Parties & { readonly value: bigint };

/** A transfer of the native asset, which has no log. */
export const moveNative = ({ ledger, time }: TemplateContext, amount: Amount): Step => ({
  effects: [ledger.move(null, amount, time)],
  logs: [],
});

export const moveCoin = ({ ledger, time }: TemplateContext, token: TokenContract, amount: Amount): Step => ({
  effects: [ledger.move(token, amount, time)],
  logs: [{ address: token.address, event: erc20.Transfer, args: [amount.from, amount.to, amount.value] }],
});

/** A transfer of one or more token ids of an ERC-721. */
export const moveUnique = (
  context: TemplateContext,
  token: NftToken,
  ids: readonly bigint[],
  parties: Parties,
): Step => ({
  effects: ids.map((id) => context.ledger.moveNft(token, id, { ...parties, value: 1n }, context.time)),
  logs: ids.map((id) => ({
    address: token.address,
    event: erc721.Transfer,
    args: [parties.from, parties.to, id],
  })),
});

/** A transfer of amounts of one or more ids of an ERC-1155, with one log for all of them. */
export const moveEditions = (
  context: TemplateContext,
  token: NftToken,
  editions: readonly (readonly [id: bigint, value: bigint])[],
  { from, to, operator }: Parties & { readonly operator: Hex },
): Step => {
  const effects: Transfer[] = editions.map(([id, value]) =>
    context.ledger.moveNft(token, id, { from, to, value }, context.time),
  );
  const [only] = editions;
  const single = editions.length === 1 && only !== undefined;
  const args = single ? only : [editions.map(([id]) => id), editions.map(([, value]) => value)];
  const event = single ? erc1155.TransferSingle : erc1155.TransferBatch;
  return { effects, logs: [{ address: token.address, event, args: [operator, from, to, ...args] }] };
};

/** Deposits the native asset into the wrapped token, which mints the same amount to the owner and logs a deposit. */
export const depositFor = (context: TemplateContext, payer: Hex, owner: Hex, value: bigint): Step => {
  const { wrapped: token } = context.contracts;
  const paid = context.ledger.move(null, { from: payer, to: token.address, value }, context.time);
  const minted = context.ledger.move(token, { from: ZERO_ADDRESS, to: owner, value }, context.time);
  return {
    effects: [paid, minted],
    logs: [{ address: token.address, event: wrapped.Deposit, args: [owner, value] }],
  };
};
