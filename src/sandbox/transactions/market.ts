import { marketplace } from '../evm/abi.ts';
import { ZERO_ADDRESS } from '../evm/random.ts';
import type { Hex, Token } from '../types.ts';
import {
  holdingsOnChain,
  isFull,
  moveNative,
  moveUnique,
  randomAmount,
  randomCollection,
  type Step,
  succeeded,
  type TemplateContext,
  type TransactionTemplate,
} from './templates.ts';

type Sale = {
  readonly token: Token;
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
