import { effectsOf, type ParsedBlock, partiesOf } from '../../../../src/backend/indexer/blocks/parse.ts';
import type { Effect, Hex, Transfer } from '../../../../src/backend/types.ts';
import { ZERO } from './blocks.ts';

const compare = <T extends bigint | number | string>(one: T, other: T) =>
  one < other ? -1 : one > other ? 1 : 0;

/** One side of a transfer. */
type Move = {
  readonly chainId: number;
  readonly account: Hex;
  readonly contract: Hex;
  readonly time: number;
  readonly side: 'from' | 'to';
};

/** What a reader of all blocks finds, from the first one on. */
export class Scan {
  readonly #lists = new Map<
    Hex,
    { time: number; chainId: number; number: number; index: number; hash: Hex }[]
  >();
  readonly #coins = new Map<
    string,
    { chainId: number; token: Hex; account: Hex; amount: bigint; first: number; hasSent: boolean }
  >();
  readonly #nfts = new Map<
    string,
    {
      chainId: number;
      contract: Hex;
      account: Hex;
      asset: string;
      tokenId: bigint;
      amount: bigint;
      last: number;
    }
  >();

  add({ chainId, number, time, transactions }: ParsedBlock): void {
    for (const transaction of transactions) {
      const effects = effectsOf(transaction);
      for (const party of partiesOf(transaction, effects)) {
        const list = this.#lists.get(party) ?? [];
        this.#lists.set(party, list);
        list.push({ time, chainId, number, index: transaction.index, hash: transaction.hash });
      }
      for (const effect of effects) if (isTokenTransfer(effect)) this.#move(chainId, time, effect);
    }
  }

  #move(chainId: number, time: number, transfer: Transfer): void {
    for (const side of ['from', 'to'] as const) {
      const move = { chainId, account: transfer[side], contract: transfer.token ?? ZERO, time, side };
      const change = side === 'to' ? transfer.value : -transfer.value;
      if (transfer.tokenId === null) this.#moveCoin(move, change);
      else this.#moveNft(move, change, transfer.asset, transfer.tokenId);
    }
  }

  #moveCoin({ chainId, account, contract, time, side }: Move, change: bigint): void {
    const key = `${chainId}/${contract}/${account}`;
    const { amount, first, hasSent } = this.#coins.get(key) ?? { amount: 0n, first: 0, hasSent: false };
    this.#coins.set(key, {
      ...{ chainId, token: contract, account, amount: amount + change },
      ...{ first: first || (side === 'to' ? time : 0), hasSent: hasSent || side === 'from' },
    });
  }

  #moveNft(
    { chainId, account, contract, time, side }: Move,
    change: bigint,
    asset: string,
    tokenId: bigint,
  ): void {
    const key = `${chainId}/${contract}/${asset}/${tokenId}/${account}`;
    // Who sends an NFT that nobody gave it had it before.
    const opening = asset === 'erc721' && side === 'from' ? 1n : 0n;
    const { amount, last } = this.#nfts.get(key) ?? { amount: opening, last: 0 };
    const received = side === 'to' ? time : last;
    const held = { chainId, contract, account, asset, tokenId };
    this.#nfts.set(key, { ...held, amount: amount + change, last: received });
  }

  /** Amounts are `most` at most. */
  coinsOf(wallet: Hex, most: bigint): readonly string[] {
    return [...this.#coins.values()]
      .filter(({ account, amount }) => account === wallet && amount > 0n)
      .sort((one, other) => one.chainId - other.chainId || compare(one.token, other.token))
      .map(({ chainId, token, amount }) => `${chainId} ${token} ${amount < most ? amount : most}`);
  }

  /** An id that several accounts have, as logs that lie can make it, belongs to the first of them. Amounts are `most` at most. */
  nftsOf(wallet: Hex, most: bigint): readonly string[] {
    return [...this.#nfts.values()]
      .filter(({ account, amount }) => account === wallet && amount > 0n)
      .filter(
        ({ chainId, contract, asset, tokenId }) =>
          asset === 'erc1155' || this.ownerOf(chainId, contract, tokenId) === wallet,
      )
      .map(({ chainId, contract, asset, tokenId, amount, last }) => {
        const balance = asset === 'erc721' ? 1n : amount < most ? amount : most;
        return `${last} ${chainId} ${contract} ${tokenId} ${balance}`;
      })
      .toSorted();
  }

  /** The account that an ERC-721 belongs to. */
  ownerOf(chainId: number, contract: Hex, tokenId: bigint): Hex {
    const [owner = ZERO] = [...this.#nfts.values()]
      .filter((each) => each.chainId === chainId && each.contract === contract && each.tokenId === tokenId)
      .filter(({ asset, account, amount }) => asset === 'erc721' && amount > 0n && account !== ZERO)
      .map(({ account }) => account)
      .toSorted();
    return owner;
  }

  /** What an account has of one id of an ERC-1155. */
  itemsOf(chainId: number, contract: Hex, tokenId: bigint, account: Hex): bigint {
    return this.#nfts.get(`${chainId}/${contract}/erc1155/${tokenId}/${account}`)?.amount ?? 0n;
  }

  holdersOf(chainId: number, token: Hex, most: bigint) {
    return [...this.#coins.values()]
      .filter(
        (coin) =>
          coin.chainId === chainId && coin.token === token && coin.amount > 0n && coin.account !== ZERO,
      )
      .sort((one, other) => compare(other.amount, one.amount) || compare(one.account, other.account))
      .map(({ account, amount, first, hasSent }) => ({
        ...{ account, amount: amount < most ? amount : most, acquiredAt: first, hasSent },
      }));
  }

  amountOf(chainId: number, token: Hex, account: Hex): bigint {
    return this.#coins.get(`${chainId}/${token}/${account}`)?.amount ?? 0n;
  }

  transactions(wallet: Hex, chainIds: ReadonlySet<number>): readonly Hex[] {
    return (this.#lists.get(wallet) ?? [])
      .filter(({ chainId }) => chainIds.has(chainId))
      .sort(
        (one, other) =>
          other.time - one.time ||
          other.chainId - one.chainId ||
          other.number - one.number ||
          other.index - one.index,
      )
      .map(({ hash }) => hash);
  }
}

const isTokenTransfer = (effect: Effect): effect is Transfer =>
  effect.kind === 'transfer' && effect.token !== null && effect.value > 0n;
