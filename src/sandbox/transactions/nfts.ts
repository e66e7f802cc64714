import type { Holding } from '../chain/holdings.ts';
import { erc721, erc1155 } from '../evm/abi-fragments.ts';
import { ZERO_ADDRESS } from '../evm/address.ts';
import type { Hex, Token } from '../types.ts';
import { heldHere, isFull, type Scene, type Stage, someCollection } from './template-context.ts';
import { moveEditions, moveUnique } from './transfers.ts';
import { done } from './unsigned-transaction.ts';

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);

/** Undefined when the wallet has none on this chain. */
function someHolding(stage: Stage, wallet: Hex, standard: Token['standard']): Holding | undefined {
  const held = heldHere(stage, wallet, standard);
  return held.length === 0 ? undefined : stage.random.pick(held);
}

export const sendUnique: Scene = (stage, wallet) => {
  const held = someHolding(stage, wallet, 'erc721');
  if (held === undefined) return null;
  const parties = { from: wallet, to: stage.random.pick(stage.crowd) };
  const call = { method: erc721.safeTransferFrom, args: [parties.from, parties.to, held.tokenId] };
  const moved = moveUnique(stage, held.token, [held.tokenId], parties);
  return done({ from: wallet, to: held.token.address, call, gas: 72_000 }, moved);
};

const halfOf = ({ balance, tokenId }: Holding) => [tokenId, (balance + 1n) / 2n] as const;

export const sendEditions: Scene = (stage, wallet) => {
  const held = someHolding(stage, wallet, 'erc1155');
  if (held === undefined) return null;
  const parties = { from: wallet, to: stage.random.pick(stage.crowd) };
  const edition = halfOf(held);
  const call = { method: erc1155.safeTransferFrom, args: [wallet, parties.to, ...edition, '0x'] };
  const moved = moveEditions(stage, held.token, [edition], { ...parties, operator: wallet });
  return done({ from: wallet, to: held.token.address, call, gas: 58_000 }, moved);
};

/** Half of everything that the wallet has of one collection, ten ids at most. */
export const sendBatch: Scene = (stage, wallet) => {
  const held = someHolding(stage, wallet, 'erc1155');
  if (held === undefined) return null;
  const siblings = heldHere(stage, wallet, 'erc1155').filter(({ token }) => token === held.token);
  const editions = siblings.slice(0, 10).map(halfOf);
  const to = stage.random.pick(stage.crowd);
  const args = [wallet, to, editions.map(([id]) => id), editions.map(([, value]) => value), '0x'];
  const call = { method: erc1155.safeBatchTransferFrom, args };
  const moved = moveEditions(stage, held.token, editions, { from: wallet, to, operator: wallet });
  return done({ from: wallet, to: held.token.address, call, gas: 94_000 }, moved);
};

function mintUniques(stage: Stage, wallet: Hex, quantity: number) {
  if (isFull(stage, wallet)) return sendUnique(stage, wallet);
  const { token } = someCollection(stage, 'erc721');
  const ids = upTo(quantity).map(() => stage.ledger.nextTokenId(token.address));
  const call = { method: erc721.mint, args: [wallet, BigInt(quantity)] };
  const minted = moveUnique(stage, token, ids, { from: ZERO_ADDRESS, to: wallet });
  return done({ from: wallet, to: token.address, call, gas: 62_000 + 2_200 * quantity }, minted);
}

export const mintUnique: Scene = (stage, wallet) => mintUniques(stage, wallet, stage.random.between(1, 3));
export const mintDrop: Scene = (stage, wallet) => mintUniques(stage, wallet, stage.random.between(16, 26));

/** Of the collection that launched last. */
export const mintLatest: Scene = (stage, wallet) => {
  if (isFull(stage, wallet)) return null;
  const { token } = stage.contracts.latest;
  const id = stage.ledger.nextTokenId(token.address);
  const call = { method: erc721.mint, args: [wallet, 1n] };
  const minted = moveUnique(stage, token, [id], { from: ZERO_ADDRESS, to: wallet });
  return done({ from: wallet, to: token.address, call, gas: 64_000 }, minted);
};

function mintEditionsOf(stage: Stage, wallet: Hex, amount: () => bigint) {
  if (isFull(stage, wallet)) return sendEditions(stage, wallet);
  const { random } = stage;
  const { token } = someCollection(stage, 'erc1155');
  const first = random.between(1, 400);
  const editions = upTo(random.between(2, 6)).map((at) => [BigInt(first + at), amount()] as const);
  const args = [wallet, editions.map(([id]) => id), editions.map(([, value]) => value), '0x'];
  const minted = moveEditions(stage, token, editions, { operator: wallet, from: ZERO_ADDRESS, to: wallet });
  return done(
    { from: wallet, to: token.address, call: { method: erc1155.mintBatch, args }, gas: 98_000 },
    minted,
  );
}

export const mintEditions: Scene = (stage, wallet) =>
  mintEditionsOf(stage, wallet, () => BigInt(stage.random.between(1, 20)));
/** Amounts that no float can hold. */
export const mintVastEditions: Scene = (stage, wallet) =>
  mintEditionsOf(stage, wallet, () => 2n ** 60n + BigInt(stage.random.bytes(7)));

export const burnUnique: Scene = (stage, wallet) => {
  const held = someHolding(stage, wallet, 'erc721');
  if (held === undefined) return null;
  const burned = moveUnique(stage, held.token, [held.tokenId], { from: wallet, to: ZERO_ADDRESS });
  const call = { method: erc721.burn, args: [held.tokenId] };
  return done({ from: wallet, to: held.token.address, call, gas: 48_000 }, burned);
};

export const burnEditions: Scene = (stage, wallet) => {
  const held = someHolding(stage, wallet, 'erc1155');
  if (held === undefined) return null;
  const edition = halfOf(held);
  const parties = { from: wallet, to: ZERO_ADDRESS, operator: wallet };
  const call = { method: erc1155.burn, args: [wallet, ...edition] };
  const burned = moveEditions(stage, held.token, [edition], parties);
  return done({ from: wallet, to: held.token.address, call, gas: 42_000 }, burned);
};
