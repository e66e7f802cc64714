import type { Holding } from '../chain-data.ts';
import { erc721, erc1155, spam } from '../evm/abi.ts';
import { addressOf, ZERO_ADDRESS } from '../evm/random.ts';
import type { Hex, Token } from '../types.ts';
import {
  holdingsOnChain,
  isFull,
  moveEditions,
  moveUnique,
  randomCollection,
  succeeded,
  type TemplateContext,
  type TransactionTemplate,
} from './templates.ts';

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);

/** One of the wallet's holdings of a standard; undefined when it has none on this chain. */
const randomHolding = (
  context: TemplateContext,
  wallet: Hex,
  standard: Token['standard'],
): Holding | undefined => {
  const held = holdingsOnChain(context, wallet, standard);
  return held.length === 0 ? undefined : context.random.pick(held);
};

export const sendUnique: TransactionTemplate = (context, wallet) => {
  const held = randomHolding(context, wallet, 'erc721');
  if (held === undefined) return null;
  const parties = { from: wallet, to: context.random.pick(context.counterparties) };
  const call = { method: erc721.safeTransferFrom, args: [parties.from, parties.to, held.tokenId] };
  const moved = moveUnique(context, held.token, [held.tokenId], parties);
  return succeeded({ from: wallet, to: held.token.address, call, gas: 72_000 }, moved);
};

const halfOfBalance = ({ balance, tokenId }: Holding) => [tokenId, (balance + 1n) / 2n] as const;

export const sendEditions: TransactionTemplate = (context, wallet) => {
  const held = randomHolding(context, wallet, 'erc1155');
  if (held === undefined) return null;
  const parties = { from: wallet, to: context.random.pick(context.counterparties) };
  const edition = halfOfBalance(held);
  const call = { method: erc1155.safeTransferFrom, args: [wallet, parties.to, ...edition, '0x'] };
  const moved = moveEditions(context, held.token, [edition], { ...parties, operator: wallet });
  return succeeded({ from: wallet, to: held.token.address, call, gas: 58_000 }, moved);
};

/** Sends half of each of the wallet's balances in one collection, of at most ten ids. */
export const sendBatch: TransactionTemplate = (context, wallet) => {
  const held = randomHolding(context, wallet, 'erc1155');
  if (held === undefined) return null;
  const siblings = holdingsOnChain(context, wallet, 'erc1155').filter(({ token }) => token === held.token);
  const editions = siblings.slice(0, 10).map(halfOfBalance);
  const to = context.random.pick(context.counterparties);
  const args = [wallet, to, editions.map(([id]) => id), editions.map(([, value]) => value), '0x'];
  const call = { method: erc1155.safeBatchTransferFrom, args };
  const moved = moveEditions(context, held.token, editions, { from: wallet, to, operator: wallet });
  return succeeded({ from: wallet, to: held.token.address, call, gas: 94_000 }, moved);
};

const mintUniques = (context: TemplateContext, wallet: Hex, quantity: number) => {
  if (isFull(context, wallet)) return sendUnique(context, wallet);
  const { token } = randomCollection(context, 'erc721');
  const ids = upTo(quantity).map(() => context.ledger.nextTokenId(token.address));
  const call = { method: erc721.mint, args: [wallet, BigInt(quantity)] };
  const minted = moveUnique(context, token, ids, { from: ZERO_ADDRESS, to: wallet });
  return succeeded({ from: wallet, to: token.address, call, gas: 62_000 + 2_200 * quantity }, minted);
};

export const mintUnique: TransactionTemplate = (context, wallet) =>
  mintUniques(context, wallet, context.random.between(1, 3));
export const mintDrop: TransactionTemplate = (context, wallet) =>
  mintUniques(context, wallet, context.random.between(16, 26));

/** Mints one NFT of the collection that launched last. */
export const mintLatest: TransactionTemplate = (context, wallet) => {
  if (isFull(context, wallet)) return null;
  const { token } = context.contracts.latest;
  const id = context.ledger.nextTokenId(token.address);
  const call = { method: erc721.mint, args: [wallet, 1n] };
  const minted = moveUnique(context, token, [id], { from: ZERO_ADDRESS, to: wallet });
  return succeeded({ from: wallet, to: token.address, call, gas: 64_000 }, minted);
};

const mintEditionsOf = (context: TemplateContext, wallet: Hex, amount: () => bigint) => {
  if (isFull(context, wallet)) return sendEditions(context, wallet);
  const { random } = context;
  const { token } = randomCollection(context, 'erc1155');
  const first = random.between(1, 400);
  const editions = upTo(random.between(2, 6)).map((at) => [BigInt(first + at), amount()] as const);
  const args = [wallet, editions.map(([id]) => id), editions.map(([, value]) => value), '0x'];
  const minted = moveEditions(context, token, editions, { operator: wallet, from: ZERO_ADDRESS, to: wallet });
  return succeeded(
    { from: wallet, to: token.address, call: { method: erc1155.mintBatch, args }, gas: 98_000 },
    minted,
  );
};

export const mintEditions: TransactionTemplate = (context, wallet) =>
  mintEditionsOf(context, wallet, () => BigInt(context.random.between(1, 20)));
/** Mints amounts beyond 2^53, which no float can hold. */
export const mintVastEditions: TransactionTemplate = (context, wallet) =>
  mintEditionsOf(context, wallet, () => 2n ** 60n + BigInt(context.random.bytes(7)));

export const burnUnique: TransactionTemplate = (context, wallet) => {
  const held = randomHolding(context, wallet, 'erc721');
  if (held === undefined) return null;
  const burned = moveUnique(context, held.token, [held.tokenId], { from: wallet, to: ZERO_ADDRESS });
  const call = { method: erc721.burn, args: [held.tokenId] };
  return succeeded({ from: wallet, to: held.token.address, call, gas: 48_000 }, burned);
};

export const burnEditions: TransactionTemplate = (context, wallet) => {
  const held = randomHolding(context, wallet, 'erc1155');
  if (held === undefined) return null;
  const edition = halfOfBalance(held);
  const parties = { from: wallet, to: ZERO_ADDRESS, operator: wallet };
  const call = { method: erc1155.burn, args: [wallet, ...edition] };
  const burned = moveEditions(context, held.token, [edition], parties);
  return succeeded({ from: wallet, to: held.token.address, call, gas: 42_000 }, burned);
};

/** An airdrop of spam: an unknown contract mints to the wallet and to two other addresses, unasked. */
export const airdropSpam: TransactionTemplate = (context, wallet) => {
  if (isFull(context, wallet)) return null;
  const { contracts, counterparties, ledger, random } = context;
  const { token } = random.pick(contracts.unsolicited);
  const ids = Array.from({ length: random.between(1, 3) }, () => ledger.nextTokenId(token.address));
  const to = wallet;
  const operator = addressOf(`spammer ${random.between(1, 9)}`);
  const dropped =
    token.standard === 'erc721'
      ? moveUnique(context, token, ids, { from: ZERO_ADDRESS, to })
      : moveEditions(
          context,
          token,
          ids.map((id) => [id, 1n]),
          { operator, from: ZERO_ADDRESS, to },
        );
  const call = {
    method: spam.airdrop,
    args: [[random.pick(counterparties), to, random.pick(counterparties)], ids],
  };
  return succeeded({ from: operator, to: token.address, call, gas: 240_000 }, dropped);
};
