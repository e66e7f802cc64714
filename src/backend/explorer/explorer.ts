import { askingClient } from '../asking-client.ts';
import { Refused } from '../http/query.ts';
import type { Chain } from '../types.ts';
import type { Background, ExplorerChain, Lookup } from './client/chain.ts';
import type { ExplorerClient } from './client/client.ts';
import { ExplorerError, type Fault } from './client/errors.ts';
import type { ItemOperation, ListOperation } from './client/operations.ts';
import type { Cursor } from './client/order.ts';
import type { Page } from './client/paging.ts';
import { Known } from './known.ts';

/** The account of all chains of the hosted API. */
export const HOSTED = 'hosted';

/** Seconds until an explorer is asked again that failed: what it is told to wait for, it keeps itself. */
const RETRY_AFTER = 10;

/** A refusal because no answer came in time, or none that can be used: a smaller request, or another route, may be answered. */
export class Unanswered extends Refused {}

const UNANSWERED: ReadonlySet<Fault['kind']> = new Set(['timeout', 'failed', 'unreachable', 'tooLarge']);

/** The explorer of one chain, as the lists ask it. What fails rejects with Refused, in the words of the fault. */
export class Explorer {
  readonly chain: Chain;
  /** What its answers have said so far. */
  readonly known: Known;
  readonly #client: ExplorerClient;
  readonly #asked: ExplorerChain;

  /** Which limits of requests it shares: those of one key, or of one host. */
  get account(): string {
    return this.#asked.isHosted ? HOSTED : new URL(this.#asked.baseUrl).host;
  }

  constructor(client: ExplorerClient, asked: ExplorerChain, chain: Chain) {
    this.#client = client;
    this.#asked = asked;
    this.chain = chain;
    this.known = new Known(chain);
  }

  /** Finds out whether the explorer answers. Rejects with ExplorerError. */
  async check(): Promise<void> {
    await this.#client.version(this.#asked, this.lookup('start'));
  }

  /** One lookup, whose requests share its time. Explorers are asked for one client after another in turns, where any is named. */
  lookup(subject: string, background?: Background, signal: AbortSignal | null = null): Lookup {
    const client = askingClient() ?? subject;
    return this.#client.lookup(subject, signal, { client, ...(background && { background }) });
  }

  /** A lookup for a request that another one may take the place of: it has half of the time. */
  half(lookup: Lookup): Lookup {
    return this.#client.half(lookup);
  }

  /** Resolves with null where the explorer does not know the subject of the list. */
  list<Parameters, Row>(
    operation: ListOperation<Parameters, Row>,
    parameters: Parameters,
    cursor: Cursor | null,
    lookup: Lookup,
    limit?: number,
  ): Promise<Page<Row> | null> {
    return this.#client
      .list(this.#asked, operation, parameters, cursor, lookup, limit)
      .catch((problem: unknown) => {
        if (problem instanceof ExplorerError && problem.fault.kind === 'notFound') return null;
        throw refusalOf(problem);
      });
  }

  /** As `list`, for a list that every address has. */
  async page<Parameters, Row>(
    operation: ListOperation<Parameters, Row>,
    parameters: Parameters,
    cursor: Cursor | null,
    lookup: Lookup,
    limit?: number,
  ): Promise<Page<Row>> {
    const page = await this.list(operation, parameters, cursor, lookup, limit);
    if (page === null) throw unexpected(this.chain, 'it does not know the address');
    return page;
  }

  /** Resolves with null for what the explorer does not know. */
  one<Parameters, Value>(
    operation: ItemOperation<Parameters, Value>,
    parameters: Parameters,
    lookup: Lookup,
  ): Promise<Value | null> {
    return this.#client.one(this.#asked, operation, parameters, lookup).catch((problem: unknown) => {
      throw refusalOf(problem);
    });
  }
}

/** What only its operator can change: it is refused for good, so that no client asks again and again, or takes it for an outage. */
const LASTING: ReadonlySet<Fault['kind']> = new Set(['noKey', 'badKey', 'notHosted', 'tooOld']);

const refusalOf = (problem: unknown): unknown => {
  if (!(problem instanceof ExplorerError)) return problem;
  const message = withoutStop(problem.message);
  const { kind } = problem.fault;
  if (LASTING.has(kind)) return new Refused(400, message);
  return new (UNANSWERED.has(kind) ? Unanswered : Refused)(503, message, RETRY_AFTER);
};

const withoutStop = (sentence: string): string => sentence.replace(/\.$/, '');

/** What an explorer answered is not what its lists must be. */
export const unexpected = ({ id }: Chain, what: string): Refused =>
  new Refused(503, `The explorer of chain ${id} answered something unexpected: ${what}`, RETRY_AFTER);
