import { marketplace } from '../evm/abi-fragments.ts';
import type { Hex, Token } from '../types.ts';
import { heldHere, isFull, type Scene, type Stage, someCollection, someOf } from './template-context.ts';
import { moveNative, moveUnique } from './transfers.ts';
import { done, type Step } from './unsigned-transaction.ts';

type Sale = {
  readonly token: Token;
  readonly tokenId: bigint;
  readonly price: bigint;
  readonly seller: Hex;
  readonly buyer: Hex;
};

/** The numbers by which an order names what it is about. */
const ITEM = { native: 0, erc721: 2 };

/** The marketplace keeps 2.5 % of the price. */
const feeOf = (price: bigint) => price / 40n;

/** One ERC-721 for the native asset: the buyer's transaction, an order of nested tuples. */
function fulfil(stage: Stage, { token, tokenId, price, seller, buyer }: Sale) {
  const { contracts, ledger, random, time } = stage;
  const market = contracts.marketplace;
  const fee = feeOf(price);
  const offer = [{ itemType: ITEM.erc721, token: token.address, identifier: tokenId, amount: 1n }];
  const native = { itemType: ITEM.native, token: `0x${'0'.repeat(40)}`, identifier: 0n };
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
    moveUnique(stage, token, [tokenId], { from: seller, to: buyer }),
    moveNative(stage, { from: buyer, to: seller, value: price - fee }),
    moveNative(stage, { from: buyer, to: market, value: fee }),
    sold,
  ];
  ledger.holdings.price(buyer, token, tokenId, price);
  const call = { method: marketplace.fulfillOrder, args: [{ parameters, signature: random.bytes(65) }] };
  return done({ from: buyer, to: market, value: price, call, gas: 168_000 }, ...steps);
}

export const buyOnMarket: Scene = (stage, wallet) => {
  const price = someOf(stage, wallet, null);
  if (price < 40n || isFull(stage, wallet)) return null;
  const { token } = someCollection(stage, 'erc721');
  const tokenId = stage.ledger.nextTokenId(token.address);
  return fulfil(stage, { token, tokenId, price, seller: stage.random.pick(stage.crowd), buyer: wallet });
};

export const sellOnMarket: Scene = (stage, wallet) => {
  const held = heldHere(stage, wallet, 'erc721');
  if (held.length === 0) return null;
  const { token, tokenId } = stage.random.pick(held);
  const buyer = stage.random.pick(stage.crowd);
  const price = someOf(stage, buyer, null);
  return price < 40n ? null : fulfil(stage, { token, tokenId, price, seller: wallet, buyer });
};
