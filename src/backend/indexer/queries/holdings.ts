import { encodeData, from as parseFunction } from 'ox/AbiFunction';
import { isBehind } from '../../http/query.ts';
import type { Call } from '../../node/calls.ts';
import type { FailedChain, Holding, Part, Wanted } from '../../source.ts';
import type { Chain, Hex } from '../../types.ts';
import { FORMS } from '../blocks/readings.ts';
import { balanceCall } from '../contracts/amounts.ts';
import type { KnownContracts } from '../contracts/known-contracts.ts';
import type { Lists } from './lists.ts';
import type { NodeState } from './state.ts';

/** The NFTs whose contracts one page asks at most: anyone can log that an account has them. */
const MAX_ASKED = 500;

const OTHERS = 'it is not known yet of some contracts whether what they log is an NFT';

const ownerOf = parseFunction('function ownerOf(uint256 tokenId) returns (address)');
const punkIndexToAddress = parseFunction('function punkIndexToAddress(uint256 punkIndex) returns (address)');

/**
 * The NFTs of accounts. Logs say which ones to ask for, and the contracts whose they are: an id that two accounts have by lying logs
 * is shown at its owner alone.
 */
export class IndexedHoldings {
  readonly #lists: Pick<Lists, 'collectibles'>;
  readonly #state: Pick<NodeState, 'amounts'>;
  readonly #contracts: Pick<KnownContracts, 'contract' | 'readings'>;
  readonly #mayHaveOthers: (chainId: number) => boolean;

  constructor(
    lists: Pick<Lists, 'collectibles'>,
    state: Pick<NodeState, 'amounts'>,
    contracts: Pick<KnownContracts, 'contract' | 'readings'>,
    mayHaveOthers: (chainId: number) => boolean,
  ) {
    this.#lists = lists;
    this.#state = state;
    this.#contracts = contracts;
    this.#mayHaveOthers = mayHaveOthers;
  }

  /** In the order of the last receipts. A part may have fewer than are wanted although there are more behind it. */
  async of(wallet: Hex, chains: readonly Chain[], wanted: Wanted): Promise<Part<Holding>> {
    const limit = Math.min(wanted.limit, MAX_ASKED);
    const found = chains.flatMap((chain) =>
      this.#lists
        .collectibles(wallet, chain, { ...wanted, limit: limit + 1 })
        .map(({ amount, ...held }): Holding => {
          const symbol = this.#contracts.contract(chain.id, held.contract)?.symbol ?? null;
          return { ...held, chain, symbol, balance: amount, soldFor: null };
        }),
    );
    if (chains.length > 1) found.sort((one, other) => (isBehind(one.place, other.place) ? 1 : -1));
    const logged = found.slice(0, limit);
    const next = found.length > logged.length ? (logged.at(-1)?.place ?? null) : null;
    const answers = await Promise.allSettled(this.#balances(wallet, logged));
    const items: Holding[] = [];
    const failed = new Map<number, FailedChain>();
    for (const { id: chainId } of chains)
      if (this.#mayHaveOthers(chainId)) failed.set(chainId, { chainId, reason: OTHERS, isPart: true });
    for (const [at, holding] of logged.entries()) {
      const answer = answers[at];
      if (answer?.status !== 'fulfilled') {
        const chainId = holding.chain.id;
        failed.set(chainId, { chainId, reason: null });
      } else if (answer.value > 0n) items.push({ ...holding, balance: answer.value });
    }
    return { items, next, failed: [...failed.values()] };
  }

  /** How many of each the contracts say that an account has. The calls of a chain are sent together. */
  #balances(wallet: Hex, holdings: readonly Holding[]): readonly Promise<bigint>[] {
    const balances: Promise<bigint>[] = [];
    const all = Map.groupBy(holdings.entries(), ([, { chain }]) => chain.id);
    for (const [chainId, entries] of all) {
      const calls = entries.map(([, holding]) => this.#callOf(wallet, holding));
      const answers = this.#state.amounts(chainId, calls);
      for (const [order, [at, { standard }]] of entries.entries())
        balances[at] = Promise.resolve(answers[order]).then((answer = null) => {
          if (standard === 'erc1155') return answer ?? 0n;
          return answer === BigInt(wallet) ? 1n : 0n;
        });
    }
    return balances;
  }

  #callOf(wallet: Hex, { chain, contract: to, standard, tokenId }: Holding): Call {
    if (standard === 'erc1155') return balanceCall(wallet, to, tokenId);
    const isPunk = (this.#contracts.readings(chain.id, to).nft & FORMS.punk) !== 0;
    return { to, data: encodeData(isPunk ? punkIndexToAddress : ownerOf, [tokenId]) };
  }
}
