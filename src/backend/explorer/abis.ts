import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { decodeCall, decodeLog, type Event, eventOf, type Method, methodOf } from '../evm/abi.ts';
import { Refused } from '../http/query.ts';
import type { Decodable } from '../source.ts';
import type { Call, Decoded, Hex, LogEntry } from '../types.ts';
import type { Lookup } from './client/chain.ts';
import { OPERATIONS } from './client/operations.ts';
import type { Explorer } from './explorer.ts';

/** The contracts that are asked about for one page. What is known of them is kept, so that the next page goes on with others. */
const MAX_ASKED = 8;
const MAX_KEPT = 1_000;
/** The source of a contract does not change once it is verified, but it may be verified later. */
const VERIFIED_MS = 86_400_000;
const UNVERIFIED_MS = 3_600_000;
/** The contracts behind a proxy that are asked about as well. */
const MAX_IMPLEMENTATIONS = 2;
const MAX_ITEMS = 5_000;

type Abi = {
  readonly methods: ReadonlyMap<string, Method>;
  readonly events: ReadonlyMap<string, Event>;
};

const NONE: Abi = { methods: new Map(), events: new Map() };

/**
 * The ABIs of verified contracts, for calls and logs that came without a decoding of the explorer's: those of `txlist`, and of
 * receipts.
 */
export class Abis {
  readonly #explorer: Explorer;
  readonly #kept = new LRUCache<Hex, Abi>({ max: MAX_KEPT });

  constructor(explorer: Explorer) {
    this.#explorer = explorer;
  }

  /** Asks for ABIs that calls and logs need. Returns whether those of all are known now. */
  async learn(transactions: readonly Decodable[]): Promise<boolean> {
    const wanted = new Set(transactions.flatMap(contractsIn).filter((each) => !this.#kept.has(each)));
    const [first] = wanted;
    if (first === undefined) return true;
    // It follows a list, which had most of the time that a client waits.
    const lookup = this.#explorer.half(this.#explorer.half(this.#explorer.lookup(first)));
    const asked = [...wanted].slice(0, MAX_ASKED).map((contract) => this.#ask(contract, lookup));
    const answers = await Promise.allSettled(asked);
    for (const answer of answers)
      if (answer.status === 'rejected' && !(answer.reason instanceof Refused)) throw answer.reason;
    return wanted.size <= MAX_ASKED && answers.every(({ status }) => status === 'fulfilled');
  }

  /** The decoded call; null where the explorer could not decode it, or does not know the contract's ABI. */
  call({ to, data, decoded }: Call): Decoded | null {
    if (decoded !== undefined || to === null) return decoded ?? null;
    const method = this.#kept.get(to)?.methods.get(data.slice(0, 10).toLowerCase());
    return method === undefined ? null : decodeCall(method, data);
  }

  /** As `call`. */
  log(log: LogEntry): Decoded | null {
    if (log.decoded !== undefined) return log.decoded;
    const event = this.#kept.get(log.address)?.events.get(eventKey(log.topics[0] ?? '', log.topics.length));
    return event === undefined ? null : decodeLog(event, log);
  }

  async #ask(contract: Hex, lookup: Lookup): Promise<void> {
    const { known } = this.#explorer;
    const found = known.isUnverified(contract) ? null : await this.#contract(contract, lookup);
    if (found === null) return void this.#kept.set(contract, NONE, { ttl: UNVERIFIED_MS });
    if (found.name !== null) known.named(contract, found.name);
    const behind = (found.implementations ?? []).slice(0, MAX_IMPLEMENTATIONS);
    const others = await Promise.all(behind.map((each) => this.#contract(each.address_hash, lookup)));
    const items = [found, ...others].flatMap((each) => each?.abi ?? []);
    const ttl = items.length === 0 ? UNVERIFIED_MS : VERIFIED_MS;
    this.#kept.set(contract, abiOf(items.slice(0, MAX_ITEMS)), { ttl });
  }

  /** Null for one that the explorer does not know as a contract. */
  #contract(address: Hex, lookup: Lookup) {
    return this.#explorer.one(OPERATIONS.contract, { address }, lookup);
  }
}

/** The contracts whose ABI would decode something of a transaction. */
const contractsIn = ({ to, data, decoded, logs }: Decodable): readonly Hex[] => [
  ...(to !== null && decoded === undefined && (data?.length ?? 0) >= 10 ? [to] : []),
  ...(logs ?? []).flatMap((log) => (log.decoded === undefined && log.topics.length > 0 ? [log.address] : [])),
];

type Parameter = {
  readonly name: string;
  readonly type: string;
  readonly indexed?: boolean | undefined;
  readonly components?: readonly Parameter[] | undefined;
};

const parameter: z.ZodType<Parameter> = z.lazy(() =>
  z.object({
    name: z.string().default(''),
    type: z.string(),
    indexed: z.boolean().optional(),
    components: z.array(parameter).optional(),
  }),
);

const item = z.object({
  type: z.enum(['function', 'event']),
  name: z.string(),
  inputs: z.array(parameter),
  anonymous: z.boolean().default(false),
});

const eventKey = (topic: string, topics: number): string => `${topic.toLowerCase()} ${topics}`;

/** What can't be read of an ABI is left out: it decodes nothing. */
const abiOf = (items: readonly unknown[]): Abi => {
  const methods = new Map<string, Method>();
  const events = new Map<string, Event>();
  for (const each of items) {
    const { data } = item.safeParse(each);
    if (data === undefined || data.anonymous) continue;
    try {
      if (data.type === 'function') {
        const method = methodOf(data.name, data.inputs);
        if (!methods.has(method.selector)) methods.set(method.selector, method);
      } else {
        const event = eventOf(data.name, data.inputs);
        const key = eventKey(event.topic, event.topics);
        if (!events.has(key)) events.set(key, event);
      }
    } catch {
      // A parameter has no type of the ABI.
    }
  }
  return { methods, events };
};
