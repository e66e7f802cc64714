import { ZERO_ADDRESS } from '../../evm/address.ts';
import type { Hex, Token } from '../../types.ts';
import { erc721, erc1155, marketplace, spam } from '../abi.ts';
import type { OwnedNft } from '../chain/ledger.ts';
import type { NftToken } from '../contracts.ts';
import { addressOf } from '../random.ts';
import {
  holdingsOnChain,
  isFull,
  moveEditions,
  moveNative,
  moveUnique,
  randomAmount,
  randomCollection,
  type Step,
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
): OwnedNft | undefined => {
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

const halfOfBalance = ({ balance, tokenId }: OwnedNft) => [tokenId, (balance + 1n) / 2n] as const;

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

type Sale = {
  readonly token: NftToken;
  readonly tokenId: bigint;
  readonly price: bigint;
  readonly seller: Hex;
  readonly buyer: Hex;
};

/** The item types of an order. */
const ITEM = { native: 0, erc721: 2 };

/** The marketplace keeps 2.5 % of the price. */
const feeOf = (price: bigint) => price / 40n;

/** Sells one ERC-721 for the native asset: the buyer sends the transaction, whose order is made of nested tuples. */
const fulfil = (context: TemplateContext, { token, tokenId, price, seller, buyer }: Sale) => {
  const { contracts, ledger, random, time } = context;
  const market = contracts.marketplace;
  const fee = feeOf(price);
  const offer = [{ itemType: ITEM.erc721, token: token.address, identifier: tokenId, amount: 1n }];
  const native = { itemType: ITEM.native, token: ZERO_ADDRESS, identifier: 0n };
  const consideration = [
    { ...native, amount: price - fee, recipient: seller },
    { ...native, amount: fee, recipient: market },
  ];
  const seconds = BigInt(time / 1000);
  const parameters = {
    offerer: seller,
    offer,
    consideration,
    startTime: seconds - 86_400n,
    endTime: seconds + 604_800n,
    salt: random.bytes(32),
  };
  const sold: Step = {
    effects: [],
    logs: [
      {
        address: market,
        event: marketplace.OrderFulfilled,
        args: [random.bytes(32), seller, buyer, offer, consideration],
      },
    ],
  };
  const steps = [
    moveUnique(context, token, [tokenId], { from: seller, to: buyer }),
    moveNative(context, { from: buyer, to: seller, value: price - fee }),
    moveNative(context, { from: buyer, to: market, value: fee }),
    sold,
  ];
  ledger.holdings.recordSale(buyer, token, tokenId, price);
  const call = { method: marketplace.fulfillOrder, args: [{ parameters, signature: random.bytes(65) }] };
  return succeeded({ from: buyer, to: market, value: price, call, gas: 168_000 }, ...steps);
};

export const buyOnMarket: TransactionTemplate = (context, wallet) => {
  const price = randomAmount(context, wallet, null);
  if (price < 40n || isFull(context, wallet)) return null;
  const { token } = randomCollection(context, 'erc721');
  const tokenId = context.ledger.nextTokenId(token.address);
  return fulfil(context, {
    token,
    tokenId,
    price,
    seller: context.random.pick(context.counterparties),
    buyer: wallet,
  });
};

export const sellOnMarket: TransactionTemplate = (context, wallet) => {
  const held = holdingsOnChain(context, wallet, 'erc721');
  if (held.length === 0) return null;
  const { token, tokenId } = context.random.pick(held);
  const buyer = context.random.pick(context.counterparties);
  const price = randomAmount(context, buyer, null);
  return price < 40n ? null : fulfil(context, { token, tokenId, price, seller: wallet, buyer });
};
