import { setTimeout as delay } from 'node:timers/promises';
import { encodeData, from as parseFunction } from 'ox/AbiFunction';
import { askNear, type Call, isGone } from '../../node/calls.ts';
import type { EvmNode } from '../../node/node.ts';
import type { Hex } from '../../types.ts';
import { FORMS, type Readings } from '../blocks/readings.ts';
import { amountIn, balanceCall, supplyCall } from './amounts.ts';
import type { ContractAnswers } from './answers.ts';
import { OF_NFTS, type Sample } from './seen.ts';

/**
 * What a contract's answers make of its logs that can be read in several ways. What they leave open is not read.
 *
 * - It has NFTs if it says so by ERC-165, or knows the owner of an id that its logs name.
 * - It is a coin if it has decimals.
 * - Its deposits are a wrapped native asset's if its own native balance covers its supply, and if they change balances.
 */

const supportsInterface = parseFunction('function supportsInterface(bytes4 interfaceId)');
const ownerOf = parseFunction('function ownerOf(uint256 tokenId)');
const punkIndexToAddress = parseFunction('function punkIndexToAddress(uint256 punkIndex)');

const ERC721 = '0x80ac58cd';

const WORD_DIGITS = 2 + 64;
const isAddress = (answer: Hex | null): boolean => {
  const said = answer?.length === WORD_DIGITS ? amountIn(answer) : null;
  return said !== null && said > 0n && said < 1n << 160n;
};

const ownerCalls = (to: Hex, { ids }: Sample): readonly Call[] => [
  { to, data: encodeData(supportsInterface, [ERC721]) },
  ...ids.map((id) => ({ to, data: encodeData(ownerOf, [BigInt(id)]) })),
];

const hasNfts = ([supports = null, ...owners]: readonly (Hex | null)[]): boolean =>
  (supports?.length === WORD_DIGITS && amountIn(supports) === 1n) || owners.some(isAddress);

/** The forms that are to be decided. One without logs is decided anew with each that has some: the contract may have NFTs alone. */
export const openOf = ({ forms, settled }: Readings & { readonly forms: number }): number => {
  const open = forms & ~settled;
  return open === 0 ? open : open | (forms & FORMS.asked);
};

/** What a contract is asked of its open forms, beside what tokens say of themselves. */
export const openQuestions = (to: Hex, open: number, sample: Sample): readonly Call[] => [
  ...((open & OF_NFTS) === 0 ? [] : ownerCalls(to, sample)),
  ...((open & FORMS.punk) === 0
    ? []
    : sample.ids.map((id) => ({ to, data: encodeData(punkIndexToAddress, [BigInt(id)]) }))),
];

export type Verdict = Pick<Readings, 'coin' | 'nft' | 'settled'>;

export type Case = {
  readonly node: Pick<EvmNode, 'calls' | 'balances' | 'find'>;
  readonly address: Hex;
  /** The forms of its logs, and those of them that are open. */
  readonly forms: number;
  readonly open: number;
  readonly sample: Sample;
  /** How it is read so far. */
  readonly known: Verdict;
  /** What it says of itself. */
  readonly said: ContractAnswers;
  /** What it answers to its open questions; null for nothing. */
  readonly answers: readonly (Hex | null)[];
};

/** What is known of a contract. */
type Facts = {
  readonly decimals: number | null;
  readonly hasNfts: boolean;
  readonly isPunks: boolean;
  readonly forms: number;
  /** Null where nothing is left to tell by. */
  readonly isWrapped: boolean | null;
};

/** How a form is read, and whether that is final: not where only silence speaks for it. */
type Rule = (facts: Facts) => readonly [reading: 'coin' | 'nft' | 'none', isFinal: boolean];

const RULES: readonly (readonly [form: number, rule: Rule])[] = [
  [
    FORMS.amount,
    ({ decimals, hasNfts, isPunks }) =>
      // The Transfers of CryptoPunks repeat what their other events say.
      isPunks ? ['none', true] : [hasNfts && decimals === null ? 'nft' : 'coin', true],
  ],
  [
    FORMS.id,
    ({ decimals, hasNfts, forms }) =>
      // No coin has both forms. Ids whose owners are not known may be gone.
      hasNfts || (forms & FORMS.amount) !== 0 ? ['nft', true] : [decimals === null ? 'nft' : 'coin', false],
  ],
  [
    FORMS.plain,
    ({ decimals, hasNfts }) => {
      if (hasNfts) return decimals === null || decimals === 0 ? ['nft', true] : ['none', false];
      return decimals === null ? ['none', false] : ['coin', true];
    },
  ],
  [FORMS.consecutive, ({ hasNfts }) => (hasNfts ? ['nft', true] : ['none', false])],
  [FORMS.punk, ({ isPunks }) => (isPunks ? ['nft', true] : ['none', false])],
  [FORMS.wrapping, ({ isWrapped }) => (isWrapped ? ['coin', true] : ['none', isWrapped !== null])],
  [FORMS.multi, () => ['none', true]],
  [
    FORMS.asked,
    ({ decimals, hasNfts, isPunks }) =>
      // Some NFTs have decimals: none.
      [decimals === null || (decimals === 0 && (hasNfts || isPunks)) ? 'none' : 'coin', true],
  ],
];

/**
 * The readings of the open forms. Those that remain unsettled are open also afterwards: nothing was answered that would decide
 * them. Null where the block that the contract is asked about is not the node's any more. Rejects when the node fails.
 */
export const judge = async (each: Case): Promise<Verdict | null> => {
  const { node, address, forms, open, sample, known, answers } = each;
  const { decimals } = each.said;
  const asked = (open & OF_NFTS) === 0 ? 0 : 1 + sample.ids.length;
  // Whoever has decimals means amounts with a Transfer that has the form of amounts. Others may have NFTs.
  const isDoubtful = asked === 0 && decimals === null && (open & FORMS.amount) !== 0;
  const owners = isDoubtful
    ? await Promise.all(askNear(node, ownerCalls(address, sample), sample.block))
    : answers.slice(0, asked);
  const facts: Facts = {
    ...{ decimals, forms },
    // Ids that are indexed are read as those of NFTs also where nothing was answered.
    hasNfts: hasNfts(owners) || (known.nft & (FORMS.plain | FORMS.consecutive)) !== 0,
    isPunks: answers.slice(asked).some(isAddress) || (known.nft & FORMS.punk) !== 0,
    isWrapped:
      (open & FORMS.wrapping) !== 0 && decimals !== null ? await isWrapped(node, address, sample) : false,
  };
  const verdict = { coin: 0, nft: 0, settled: 0 };
  for (const [form, rule] of RULES) {
    if ((open & form) === 0) continue;
    const [reading, isFinal] = rule(facts);
    if (reading !== 'none') verdict[reading] |= form;
    if (isFinal) verdict.settled |= form;
  }
  return verdict.settled === open || (await isStillThere(node, sample)) ? verdict : null;
};

/** Whether the node still has the block of a sample, and not another one in its place: of another branch, nothing is known. */
const isStillThere = async (node: Case['node'], { block, hash }: Sample): Promise<boolean> =>
  hash === undefined || (await node.find(block))?.hash === hash;

/** A node that is asked while it adds a block may answer with the state after that: only what it says again counts. */
const MAX_DOUBTS = 3;
const DOUBT_MS = 100;

/**
 * Whether deposits and withdrawals mint and burn a token for native currency: it has as much of that as there is of the token, and
 * they change balances by their amounts. Null where nothing is left to tell by, such as where another block has replaced the one that
 * was seen.
 */
const isWrapped = async (node: Case['node'], address: Hex, sample: Sample): Promise<boolean | null> => {
  const { block, holder } = sample;
  if (holder === null) return null;
  for (let doubts = 0; ; doubts += 1) {
    const { native, supply, before, after } = await amountsAt(node, address, holder.account, block);
    if (supply === null || after === null) return false;
    const agrees = before === null || after - before === BigInt(holder.change);
    if (agrees && supply === 0n && native === 0n) return null;
    if (agrees && native > 0n && supply <= native) return true;
    if (doubts === MAX_DOUBTS) return (await isStillThere(node, sample)) ? false : null;
    await delay(DOUBT_MS);
  }
};

/** `before` is null where the node has lost the state of the block before. */
const amountsAt = async (node: Case['node'], to: Hex, account: Hex, block: number) => {
  const held = balanceCall(account, to);
  const [supply, after] = askNear(node, [supplyCall(to), held], block);
  const [before] = block === 0 ? [] : node.calls([held], block - 1);
  const numbers = await Promise.all([
    nativeNear(node, to, block),
    supply?.then(amountIn),
    after?.then(amountIn),
    // It may have been created in the block.
    before === undefined ? 0n : before.then((answer) => amountIn(answer) ?? 0n, nullIfGone),
  ]);
  return { native: numbers[0], supply: numbers[1] ?? null, after: numbers[2] ?? null, before: numbers[3] };
};

const nullIfGone = (problem: unknown): null => {
  if (!isGone(problem)) throw problem;
  return null;
};

const nativeNear = async (node: Case['node'], account: Hex, block: number): Promise<bigint> => {
  const balances = await node.balances([account], block).catch((problem: unknown) => {
    if (!isGone(problem)) throw problem;
    return node.balances([account]);
  });
  return balances[0] ?? 0n;
};
