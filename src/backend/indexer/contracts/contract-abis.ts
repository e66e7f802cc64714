import { LRUCache } from 'lru-cache';
import { event } from '../../evm/abi.ts';
import { isGone } from '../../node/calls.ts';
import type { EvmNode } from '../../node/node.ts';
import type { Decodable } from '../../source.ts';
import type { Call, Decoded, Hex, LogEntry, Token } from '../../types.ts';
import type { ParsedBlock } from '../blocks/parse.ts';
import type { Index } from '../database/store.ts';
import { inTime } from '../queries/in-time.ts';
import type { Abi, AbiFolder, Decoder, OwnAbis } from './decode.ts';

type Options = {
  readonly decoder: Decoder;
  readonly index: Pick<Index, 'range'>;
  readonly nodes: ReadonlyMap<number, Pick<EvmNode, 'code' | 'storage'>>;
  /** Milliseconds that a lookup waits for a node. Default: 5,000. */
  readonly patienceMs?: number;
};

/** A contract as it was asked for. */
type Contract = {
  readonly code: Hex;
  /** Whose code it runs, where it is a proxy. */
  readonly implementation: Hex | null;
  /** What the folder says of its code. */
  readonly found: { readonly folder: AbiFolder; readonly abi: Abi | null } | null;
};

/** The characters of the codes that are kept, and those of the longest one: others are not known by it. */
const MAX_CHARACTERS = 64 * 1024 * 1024;
const MAX_CODE = 1024 * 1024;
/** The contracts that one lookup or block asks for. */
const MAX_ASKED = 100;
/** Milliseconds that a new block waits for the contracts that it calls. */
const BLOCK_PATIENCE_MS = 500;

/** https://eips.ethereum.org/EIPS/eip-1167 */
const MINIMAL_PROXY = /^0x363d3d373d3d3d363d73([0-9a-f]{40})5af43d82803e903d91602b57fd5bf3$/;
/** Where a proxy keeps its implementation: https://eips.ethereum.org/EIPS/eip-1967. Its code has the number of the slot. */
const SLOT = '360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';
const UPGRADED = event('event Upgraded(address indexed implementation)').topic;
const ADDRESS_IN_WORD = /^0x0{24}([0-9a-f]{40})$/;

type Parts = Omit<Decodable, 'chain'>;

/**
 * Decodes calls, logs and errors by the ABI of their contract, which is known by its address or by its code. Where ABIs say different things of one, the
 * node is asked for the code first, once for each contract, and for the implementation of a proxy.
 */
export class ContractAbis {
  readonly #options: Options;
  readonly #patienceMs: number;
  readonly #contracts = new LRUCache<string, Contract>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ code }) => code.length,
  });
  readonly #asking = new Map<string, Promise<void>>();
  /** How often what is known of a chain's contracts was forgotten. */
  readonly #forgotten = new Map<number, number>();

  constructor(options: Options) {
    this.#options = options;
    this.#patienceMs = options.patienceMs ?? 5_000;
  }

  call(
    chainId: number,
    { to, data }: Pick<Call, 'to' | 'data'>,
    standard: Token['standard'] | null,
  ): Decoded | null {
    return to === null ? null : this.#options.decoder.call(data, standard, this.#own(chainId, to));
  }

  log(chainId: number, log: LogEntry): Decoded | null {
    return this.#options.decoder.log(log, this.#own(chainId, log.address));
  }

  error(chainId: number, by: Hex | null, data: Hex): Decoded | null {
    return this.#options.decoder.error(data, by === null ? null : this.#own(chainId, by));
  }

  /** Finds out whose ABI decodes transactions. Resolves with the ids of the chains of which that is not known of a contract. */
  async learn(transactions: readonly Decodable[]): Promise<readonly number[]> {
    const byChain = Map.groupBy(transactions, ({ chain }) => chain.id);
    const failed = [...byChain].map(async ([chainId, group]) => {
      const block = this.#options.index.range(chainId)?.head.number;
      const isWhole = await this.#learnAll(chainId, this.#sharedIn(group), block, this.#patienceMs);
      return isWhole ? [] : [chainId];
    });
    return (await Promise.all(failed)).flat();
  }

  /** The same for the deliveries of a new block, soon in any case. */
  async learnBlock({ chainId, number, transactions }: ParsedBlock): Promise<void> {
    for (const { address, topics } of transactions.flatMap(({ logs }) => logs))
      if (topics[0] === UPGRADED) this.#forget(chainId, [nameOf(chainId, address)]);
    await this.#learnAll(chainId, this.#sharedIn(transactions), number, BLOCK_PATIENCE_MS);
  }

  /** The same for an error. Rejects when that is not known. */
  async learnError(chainId: number, by: Hex | null, data: Hex): Promise<void> {
    if (by === null || !this.#options.decoder.isShared.error(data)) return;
    await inTime(this.#patienceMs, this.#learn(chainId, by, this.#options.index.range(chainId)?.head.number));
  }

  /** The chain's blocks are others now, so other contracts may be at the same addresses. */
  forget(chainId: number): void {
    this.#forget(
      chainId,
      [...this.#contracts.keys()].filter((name) => name.startsWith(`${chainId}/`)),
    );
  }

  /** Nor is what was asked for before kept. */
  #forget(chainId: number, names: readonly string[]): void {
    this.#forgotten.set(chainId, this.#epoch(chainId) + 1);
    for (const name of names) this.#contracts.delete(name);
  }

  #epoch(chainId: number): number {
    return this.#forgotten.get(chainId) ?? 0;
  }

  /** The contracts whose ABI matters. */
  #sharedIn(transactions: readonly Parts[]): ReadonlySet<Hex> {
    const { isShared } = this.#options.decoder;
    return new Set(
      transactions.flatMap(({ to, data, logs }) => [
        ...(to !== null && data !== null && isShared.call(data) ? [to] : []),
        ...(logs ?? []).filter(isShared.log).map(({ address }) => address),
      ]),
    );
  }

  /** Whether all of them are known then. */
  async #learnAll(
    chainId: number,
    contracts: ReadonlySet<Hex>,
    block: number | undefined,
    patienceMs: number,
  ): Promise<boolean> {
    const unknown = [...contracts].filter((address) => this.#own(chainId, address) === null);
    const asked = unknown.slice(0, MAX_ASKED).map((address) => this.#learn(chainId, address, block));
    const all = Promise.all(asked).then(
      () => unknown.length <= MAX_ASKED,
      () => false,
    );
    return inTime(patienceMs, all).catch(() => false);
  }

  async #learn(chainId: number, address: Hex, block: number | undefined): Promise<void> {
    if (this.#options.decoder.folder().at(chainId, address) !== null) return;
    await this.#ask(chainId, address, block);
    const implementation = this.#contracts.peek(nameOf(chainId, address))?.implementation ?? null;
    if (implementation !== null && this.#options.decoder.folder().at(chainId, implementation) === null)
      await this.#ask(chainId, implementation, block);
  }

  /** Those who ask for the same contract wait for one answer. */
  #ask(chainId: number, address: Hex, block: number | undefined): Promise<void> {
    const name = nameOf(chainId, address);
    if (this.#contracts.has(name)) return Promise.resolve();
    const asked =
      this.#asking.get(name) ??
      this.#fetch(chainId, address, block).finally(() => {
        this.#asking.delete(name);
      });
    this.#asking.set(name, asked);
    return asked;
  }

  async #fetch(chainId: number, address: Hex, block: number | undefined): Promise<void> {
    const node = this.#options.nodes.get(chainId);
    if (node === undefined) throw new Error(`expected a node of chain ${chainId}, got none`);
    const epoch = this.#epoch(chainId);
    const code = await near(block, (at) => node.code(address, at));
    const isReadable = code.length <= MAX_CODE;
    const [, target] = MINIMAL_PROXY.exec(code) ?? [];
    const word =
      isReadable && code.includes(SLOT)
        ? await near(block, (at) => node.storage(address, `0x${SLOT}`, at))
        : '';
    const [, kept = target] = ADDRESS_IN_WORD.exec(word) ?? [];
    const implementation: Hex | null = kept === undefined || /^0+$/.test(kept) ? null : `0x${kept}`;
    // An address without code may get some.
    if (code !== '0x' && this.#epoch(chainId) === epoch)
      this.#contracts.set(nameOf(chainId, address), {
        code: isReadable ? code : '0x00',
        implementation,
        found: null,
      });
  }

  /** Null as long as it is not known. */
  #own(chainId: number, address: Hex): OwnAbis {
    const folder = this.#options.decoder.folder();
    const named = folder.at(chainId, address);
    if (named !== null) return [named];
    const contract = this.#contracts.get(nameOf(chainId, address));
    if (contract === undefined) return null;
    const abi = this.#abiOf(chainId, address, contract);
    const own = abi === null ? [] : [abi];
    if (contract.implementation === null) return own;
    const behind = folder.at(chainId, contract.implementation);
    if (behind !== null) return [...own, behind];
    const implementation = this.#contracts.get(nameOf(chainId, contract.implementation));
    if (implementation === undefined) return null;
    const implemented = this.#abiOf(chainId, contract.implementation, implementation);
    return implemented === null ? own : [...own, implemented];
  }

  #abiOf(chainId: number, address: Hex, contract: Contract): Abi | null {
    const folder = this.#options.decoder.folder();
    if (contract.found?.folder === folder) return contract.found.abi;
    const abi = folder.of(contract.code);
    this.#contracts.set(nameOf(chainId, address), { ...contract, found: { folder, abi } });
    return abi;
  }
}

const nameOf = (chainId: number, address: Hex): string => `${chainId}/${address}`;

/** Asks at the newest block where the node has lost the state of the wanted one. */
const near = <Answer>(
  block: number | undefined,
  ask: (block: number | undefined) => Promise<Answer>,
): Promise<Answer> =>
  ask(block).catch((problem: unknown) => {
    if (block === undefined || !isGone(problem)) throw problem;
    return ask(undefined);
  });
