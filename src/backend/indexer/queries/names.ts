import { LRUCache } from 'lru-cache';
import { encodeData, from as parseFunction } from 'ox/AbiFunction';
import { event } from '../../evm/abi.ts';
import { createValueReader } from '../../evm/abi-values.ts';
import { parseAddress, ZERO_ADDRESS } from '../../evm/address.ts';
import { isNormalised, namehash, reverseNode } from '../../evm/ens.ts';
import { Refused } from '../../http/query.ts';
import { askNear, CONTROL } from '../../node/calls.ts';
import type { EvmNode } from '../../node/node.ts';
import { createPatience } from '../../node/patience.ts';
import type { Hex } from '../../types.ts';
import type { ParsedBlock } from '../blocks/parse.ts';
import type { Index } from '../database/store.ts';
import { inTime } from './in-time.ts';

type Options = {
  readonly index: Pick<Index, 'range'>;
  readonly nodes: ReadonlyMap<number, Pick<EvmNode, 'calls'>>;
  /** The registries by the ids of their chains. */
  readonly registries: ReadonlyMap<number, Hex>;
  /** Milliseconds that a lookup waits for a node. Default: 5,000. */
  readonly patienceMs?: number;
};

const HOUR_MS = 3_600_000;
const MAX_KEPT = 20_000;
/** How long a contract counts as one that will answer, which can't be asked although the node answers other calls. */
const FAILING_MS = 10_000;

const resolverOf = parseFunction('function resolver(bytes32 node) returns (address)');
const nameOf = parseFunction('function name(bytes32 node) returns (string)');
const addressOf = parseFunction('function addr(bytes32 node) returns (address)');

const readAddress = createValueReader([{ type: 'address' }]);
const readText = createValueReader([{ type: 'string' }]);

/** What tells of the records of a name, which the second topic is the node of. */
const EVENTS: ReadonlySet<string | undefined> = new Set(
  [
    'event NewResolver(bytes32 indexed node, address resolver)',
    'event NameChanged(bytes32 indexed node, string name)',
    'event AddrChanged(bytes32 indexed node, address a)',
    'event AddressChanged(bytes32 indexed node, uint256 coinType, bytes newAddress)',
    'event VersionChanged(bytes32 indexed node, uint64 newVersion)',
  ].map((signature) => event(signature).topic),
);

type Kept = {
  readonly chainId: number;
  readonly account: Hex;
  /** Those whose records make the name; null while it is asked for. */
  nodes: ReadonlySet<Hex> | null;
  readonly name: Promise<string | null>;
};

/**
 * The primary names of accounts by the registry of their chain, as ENS has them: what the resolver of `<address>.addr.reverse`
 * says, where that name leads back to the account. Anyone can claim any name, so one that does not is none. They are kept for an
 * hour, or until an event tells of their records.
 */
export class Names {
  readonly #options: Options;
  readonly #patienceMs: number;
  readonly #failing = createPatience(FAILING_MS);
  readonly #kept = new LRUCache<string, Kept>({ max: MAX_KEPT, ttl: HOUR_MS });

  constructor(options: Options) {
    this.#options = options;
    this.#patienceMs = options.patienceMs ?? 5_000;
  }

  /** Rejects with Refused when the node fails. */
  async of(account: Hex, chainId: number): Promise<string | null> {
    const registry = this.#options.registries.get(chainId);
    if (registry === undefined) return null;
    const key = `${chainId}/${account}`;
    const known = this.#kept.get(key);
    const kept = known ?? this.#look(chainId, account, registry);
    if (known === undefined) this.#kept.set(key, kept);
    try {
      const name = await kept.name;
      this.#failing.end(key);
      return name;
    } catch {
      if (this.#kept.peek(key) === kept) this.#kept.delete(key);
      // Where the node answers other calls, the contract is at fault, such as one that takes all gas.
      if (this.#failing.isOver(key) && (await this.#answers(chainId))) return null;
      throw new Refused(503, `The name of ${account} could not be read: try again later`);
    }
  }

  /** Forgets the names whose records the blocks tell of. Returns their accounts. */
  outdatedBy(blocks: readonly ParsedBlock[]): ReadonlySet<Hex> {
    const outdated = new Set<Hex>();
    for (const { chainId, transactions } of blocks) {
      const logs = transactions.flatMap((transaction) => transaction.logs);
      const nodes = new Set(
        logs.flatMap(({ topics: [topic, node] }) => (EVENTS.has(topic) && node ? [node] : [])),
      );
      if (nodes.size === 0) continue;
      for (const [key, kept] of this.#kept.entries()) {
        if (kept.chainId !== chainId || isApart(kept.nodes, nodes)) continue;
        this.#kept.delete(key);
        outdated.add(kept.account);
      }
    }
    return outdated;
  }

  /** The chain's blocks are others now. */
  forget(chainId: number): void {
    for (const [key, kept] of this.#kept.entries()) if (kept.chainId === chainId) this.#kept.delete(key);
  }

  async #answers(chainId: number): Promise<boolean> {
    const [answer] = this.#options.nodes.get(chainId)?.calls([CONTROL]) ?? [];
    return inTime(this.#patienceMs, Promise.resolve(answer)).then(
      () => true,
      () => false,
    );
  }

  #look(chainId: number, account: Hex, registry: Hex): Kept {
    const nodes = new Set<Hex>();
    const read = this.#read(chainId, account, registry, nodes).then((name) => {
      kept.nodes = nodes;
      return name;
    });
    const kept: Kept = { chainId, account, nodes: null, name: inTime(this.#patienceMs, read) };
    return kept;
  }

  async #read(chainId: number, account: Hex, registry: Hex, nodes: Set<Hex>): Promise<string | null> {
    const node = this.#options.nodes.get(chainId);
    if (node === undefined) throw new Error(`expected a node of chain ${chainId}, got none`);
    const block = this.#options.index.range(chainId)?.head.number;
    const ask = async (to: Hex, method: typeof resolverOf | typeof nameOf | typeof addressOf, of: Hex) => {
      const [answer = null] = await Promise.all(
        askNear(node, [{ to, data: encodeData(method, [of]) }], block),
      );
      return answer;
    };
    /** What the resolver of a name says; null where it has none. That of a name above it is not asked: see ENSIP-10. */
    const resolve = async (method: typeof nameOf | typeof addressOf, of: Hex): Promise<Hex | null> => {
      nodes.add(of);
      const resolver = addressIn(await ask(registry, resolverOf, of));
      return resolver === null ? null : ask(resolver, method, of);
    };
    const said = await resolve(nameOf, reverseNode(account));
    const [name] = (said === null ? null : readText(said)) ?? [];
    if (typeof name !== 'string' || !isNormalised(name)) return null;
    return addressIn(await resolve(addressOf, namehash(name))) === account ? name : null;
  }
}

const isApart = (some: ReadonlySet<Hex> | null, others: ReadonlySet<Hex>): boolean =>
  some !== null && [...some].every((node) => !others.has(node));

/** Null for none. */
const addressIn = (answer: Hex | null): Hex | null => {
  const [address] = (answer === null ? null : readAddress(answer)) ?? [];
  const found = typeof address === 'string' ? parseAddress(address) : null;
  return found === ZERO_ADDRESS ? null : found;
};
