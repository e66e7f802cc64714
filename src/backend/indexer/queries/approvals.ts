import { encodeData, from as parseFunction } from 'ox/AbiFunction';
import { askNear, type Call } from '../../node/calls.ts';
import type { EvmNode } from '../../node/node.ts';
import type { Allowance, Allowances, Place, Wanted } from '../../source.ts';
import type { Chain, Hex, Token } from '../../types.ts';
import type { KnownContracts } from '../contracts/known-contracts.ts';
import { type Candidate, KINDS } from '../database/approvals.ts';
import type { Index } from '../database/store.ts';
import { inTime } from './in-time.ts';

type Options = {
  readonly index: Index;
  readonly chains: readonly Chain[];
  /** A node of each chain. */
  readonly nodes: ReadonlyMap<number, Pick<EvmNode, 'calls'>>;
  readonly contracts: Pick<KnownContracts, 'contract'>;
  /** Milliseconds that a lookup waits for a node. Default: 5,000. */
  readonly patienceMs?: number;
};

/** The approvals whose contracts one page asks at most: anyone can log approvals of any account. */
const MAX_ASKED = 300;

const allowance = parseFunction('function allowance(address owner, address spender) returns (uint256)');
const approvedForAll = parseFunction(
  'function isApprovedForAll(address owner, address operator) returns (bool)',
);
const getApproved = parseFunction('function getApproved(uint256 tokenId) returns (address)');
const ownerOf = parseFunction('function ownerOf(uint256 tokenId) returns (address)');

/**
 * Who may move what of an account now. The events of approvals say whom contracts are asked about, at the block that the index is
 * at, and the contracts say what is left. What a contract does not answer is no approval; what the node fails to ask is named.
 */
export class IndexedApprovals {
  readonly #options: Options;
  readonly #patienceMs: number;

  constructor({ chains, ...options }: Options) {
    this.#options = { ...options, chains: chains.toSorted((one, other) => one.id - other.id) };
    this.#patienceMs = options.patienceMs ?? 5_000;
  }

  async of(owner: Hex, chainIds: ReadonlySet<number>, { after, limit }: Wanted): Promise<Allowances> {
    const { index } = this.#options;
    const chains = this.#options.chains.filter(({ id }) => chainIds.has(id));
    const asked: Asked[] = [];
    for (const chain of chains.filter(({ id }) => id >= Number(after?.[0] ?? 0))) {
      const behind = after?.[0] === chain.id ? candidateAt(after) : null;
      const left = MAX_ASKED + 1 - asked.length;
      for (const candidate of index.approvals.of(owner, index.slot(chain.id), behind, left))
        asked.push({ chain, candidate, place: placeOf(chain, candidate) });
      if (asked.length > MAX_ASKED) break;
    }
    const looked = asked.slice(0, MAX_ASKED);
    const answers = await Promise.allSettled(this.#answersTo(owner, looked));
    const items: Allowance[] = [];
    const unread: Allowances['unread'][number][] = [];
    for (const [at, { chain, candidate, place }] of looked.entries()) {
      const answer = answers[at];
      if (answer?.status === 'rejected') unread.push({ chain, token: candidate.token });
      else if (answer !== undefined && answer.value > 0n)
        items.push(this.#allowance(chain, candidate, answer.value, place));
      if (items.length === limit && at + 1 < asked.length) return { items, next: place, unread };
    }
    const next = asked.length > looked.length ? (looked.at(-1)?.place ?? null) : null;
    return { items, next, unread };
  }

  /** What the contracts say of each: the amount, or 1 for NFTs; 0 for what is not approved. The calls of a chain are sent together. */
  #answersTo(owner: Hex, asked: readonly Asked[]): readonly Promise<bigint>[] {
    const answers: Promise<bigint>[] = [];
    for (const [chain, group] of Map.groupBy(asked, (each) => each.chain)) {
      const node = this.#options.nodes.get(chain.id);
      if (node === undefined) throw new Error(`expected a node of chain ${chain.id}, got none`);
      const questions = group.map(({ candidate }) => questionsTo(owner, candidate));
      const said = askNear(node, questions.flat(), this.#options.index.range(chain.id)?.head).map((answer) =>
        inTime(this.#patienceMs, answer),
      );
      let first = 0;
      for (const [at, { candidate }] of group.entries()) {
        const count = questions[at]?.length ?? 0;
        answers.push(
          Promise.all(said.slice(first, first + count)).then((words) => readAnswers(owner, candidate, words)),
        );
        first += count;
      }
    }
    return answers;
  }

  #allowance(
    chain: Chain,
    { token, spender, kind, tokenId }: Candidate,
    amount: bigint,
    place: Place,
  ): Allowance {
    const shared = { chain, token, spender, place };
    if (kind === KINDS.amount) return { ...shared, standard: 'erc20', amount, tokenId: null };
    if (kind === KINDS.one) return { ...shared, standard: 'erc721', amount: null, tokenId };
    return { ...shared, standard: this.#nftStandard(chain, token), amount: null, tokenId: null };
  }

  #nftStandard({ id }: Chain, token: Hex): Token['standard'] | null {
    const standard = this.#options.contracts.contract(id, token)?.standard ?? null;
    return standard === 'erc20' ? null : standard;
  }
}

type Asked = { readonly chain: Chain; readonly candidate: Candidate; readonly place: Place };

const placeOf = ({ id }: Chain, { token, spender, kind, tokenId }: Candidate): Place => [
  id,
  token,
  spender,
  kind,
  tokenId.toString(),
];

const candidateAt = ([, token, spender, kind, tokenId]: Place): Candidate => ({
  token: `0x${String(token).slice(2)}`,
  spender: `0x${String(spender).slice(2)}`,
  kind: kind === KINDS.one || kind === KINDS.all ? kind : KINDS.amount,
  tokenId: BigInt(tokenId ?? 0),
});

/** An NFT's approval ends when it moves, but contracts may say it of the next owner's. */
const questionsTo = (owner: Hex, { token: to, spender, kind, tokenId }: Candidate): readonly Call[] => {
  if (kind === KINDS.amount) return [{ to, data: encodeData(allowance, [owner, spender]) }];
  if (kind === KINDS.all) return [{ to, data: encodeData(approvedForAll, [owner, spender]) }];
  return [
    { to, data: encodeData(getApproved, [tokenId]) },
    { to, data: encodeData(ownerOf, [tokenId]) },
  ];
};

const readAnswers = (owner: Hex, { kind, spender }: Candidate, answers: readonly (Hex | null)[]): bigint => {
  const [first = null, second = null] = answers.map(wordIn);
  if (kind === KINDS.one) return first === BigInt(spender) && second === BigInt(owner) ? 1n : 0n;
  return kind === KINDS.all ? (first === 1n ? 1n : 0n) : (first ?? 0n);
};

/** Hex digits of an answer that is one word. */
const WORD = 2 + 64;

const wordIn = (answer: Hex | null): bigint | null =>
  answer === null || answer.length < WORD ? null : BigInt(answer.slice(0, WORD));
