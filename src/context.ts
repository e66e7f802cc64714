import type { FeedCache } from './deliveries/feed/cache.ts';
import type { ChangeNotifier } from './deliveries/feed/change-notifier.ts';
import { MergedReads } from './deliveries/feed/merged-reads.ts';
import type { DeliveryUrls } from './deliveries/ingress/delivery-url.ts';
import type { RefusedDeliveries } from './deliveries/ingress/refused.ts';
import type { DeliveryReads } from './deliveries/log/log.ts';
import { SearchLimiter } from './deliveries/log/read-limits.ts';
import type { Replayer } from './deliveries/replay.ts';
import { createTenantDeliveries } from './deliveries/tenant-deliveries.ts';
import { Answer, type Answers } from './graph/answer/answer.ts';
import type { CursorsOf } from './graph/pagination/cursor.ts';
import { createDeadline } from './lib/deadlines.ts';
import { textOfSet } from './lib/memo.ts';
import { createKeyedQueue, type KeyedQueue } from './lib/tasks.ts';
import type { Trace } from './lib/trace.ts';
import type { ChainSource, Chains } from './lookups/chains/chains.ts';
import type { Scope } from './scopes.ts';
import type { Credential } from './upstream/client/request.ts';
import { Usage } from './upstream/client/request.ts';
import type { PageRead } from './upstream/list-loader.ts';
import type { LookupParts, OperationLookups } from './upstream/lookup.ts';
import type { DeliveredAddresses } from './webhooks/delivered-addresses.ts';
import {
  createVerifiedKeys,
  createWebhookSession,
  type SharedKeys,
  type VerifiedKeys,
} from './webhooks/session.ts';
import type { SubscribedAddresses } from './webhooks/subscribed-addresses.ts';
import { createWatchedWallets } from './webhooks/watched-wallets.ts';

/** The parts that all operations share. */
export type ContextParts = {
  readonly upstream: LookupParts & {
    readonly subscribed: SubscribedAddresses;
    /** Null where the gateway can't know what is delivered to it. */
    readonly delivered: DeliveredAddresses | null;
    /** Null where this gateway is alone. */
    readonly sharedKeys: SharedKeys | null;
  };
  readonly deliveries: {
    readonly log: DeliveryReads;
    readonly changeNotifier: ChangeNotifier;
    readonly feedCache: FeedCache;
    readonly deliveryUrls: DeliveryUrls;
    readonly refused: RefusedDeliveries;
    readonly replayer: Replayer;
  };
  readonly settings: {
    readonly answers: Answers;
    readonly chains: ChainSource;
    readonly cursorsOf: CursorsOf;
    /** The deadline of an operation's upstream requests, all together, in milliseconds. */
    readonly operationMs: number;
    /** The most compute units that one operation may cost, whatever its estimate. */
    readonly maxComputeUnits: number;
    /** The most wallets that one tenant may watch. */
    readonly maxWatchedWallets: number;
    /** Returns the URL at which upstream reaches this gateway. It is known once the gateway listens. */
    readonly publicUrl: () => string;
  };
};

/** The caller of an operation, and its rights. */
export type Caller = {
  readonly credential: Credential;
  /** The tenant whose deliveries the caller sees. */
  readonly tenant: string;
  /** Callers with the same partition share cached pages. */
  readonly cachePartition: string;
  /** Callers with the same key share a compute-unit budget and the limits of a client. */
  readonly billingKey: string;
  /** The scopes of its token; all scopes for a caller without one. */
  readonly scopes: ReadonlySet<Scope>;
  /** When its rights expire, in milliseconds since 1970; null when they do not expire. */
  readonly expiresAt: number | null;
};

/** The context in which the resolvers of one event run. */
type EventContext = { readonly upstream: Usage; readonly chains: Chains; readonly answer: Answer };

/**
 * Returns a function that creates the context of one operation: its loaders, and its upstream usage so far. `clientSignal`
 * aborts when the client no longer waits for the operation; null for an operation that no client can abort.
 */
export const createContext = (parts: ContextParts) => {
  const all: SharedParts = {
    ...parts,
    keyedQueue: createKeyedQueue(),
    verifiedKeys: createVerifiedKeys(parts.upstream.now, parts.upstream.sharedKeys),
    searchLimiter: new SearchLimiter(),
    feedReads: new MergedReads(parts.deliveries.log),
  };
  return (caller: Caller, trace: Trace, clientSignal: AbortSignal | null) =>
    new Context(all, caller, trace, clientSignal);
};

type SharedParts = ContextParts & {
  readonly keyedQueue: KeyedQueue;
  readonly verifiedKeys: VerifiedKeys;
  readonly searchLimiter: SearchLimiter;
  readonly feedReads: MergedReads;
};

/** What the resolvers of one operation work with. It makes the loaders that they use: most operations use one or none. */
export class Context {
  readonly upstream = new Usage();
  /** The reads of the operation that have got their pages. They may outlive it. */
  readonly reads: PageRead[] = [];
  readonly chainIndex: ChainSource['index'];
  readonly chainSupports: ChainSource['supports'];
  readonly chainWith: ChainSource['chainWith'];
  /** The operation's own, once it runs. */
  trace: Trace;
  readonly tenant: string;
  readonly billingKey: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly expiresAt: number | null;
  readonly answer: Answer;
  readonly cursorsOf: CursorsOf;
  /** Callers with equal keys see the same data. */
  readonly authorizationKey: () => string;
  /** Creates the context of one event of the caller's subscription: each event is an operation of its own. */
  readonly forEvent: () => EventContext;
  /** As `verifyKey` of webhooks, in an operation of its own, which the signal aborts. */
  readonly verifyKey: (signal: AbortSignal) => Promise<void>;

  readonly #parts: SharedParts;
  readonly #caller: Caller;
  readonly #clientSignal: AbortSignal | null;
  #chains: Chains | null = null;
  #lookups: OperationLookups | null = null;
  #webhooks: ReturnType<typeof createWebhookSession> | null = null;
  #deliveries: ReturnType<typeof createTenantDeliveries> | null = null;

  constructor(parts: SharedParts, caller: Caller, trace: Trace, clientSignal: AbortSignal | null) {
    const { tenant, cachePartition, billingKey, scopes, expiresAt } = caller;
    this.chainIndex = parts.settings.chains.index;
    this.chainSupports = parts.settings.chains.supports;
    this.chainWith = parts.settings.chains.chainWith;
    this.trace = trace;
    this.tenant = tenant;
    this.billingKey = billingKey;
    this.scopes = scopes;
    this.expiresAt = expiresAt;
    this.answer = new Answer(parts.settings.answers, clientSignal);
    this.cursorsOf = parts.settings.cursorsOf;
    // A subscription keeps these functions, and must not keep its first context: they don't refer to it. V8 would allocate
    // them in old space if they were written where they are assigned.
    const authorizationKey = () =>
      `${tenant.length} ${cachePartition.length} ${tenant}${cachePartition}${textOfSet(scopes)}`;
    const forEvent = () => new Context(parts, caller, trace, null);
    const verifyKey = (signal: AbortSignal) => new Context(parts, caller, trace, signal).webhooks.verifyKey();
    this.authorizationKey = authorizationKey;
    this.forEvent = forEvent;
    this.verifyKey = verifyKey;
    this.#parts = parts;
    this.#caller = caller;
    this.#clientSignal = clientSignal;
  }

  /** The same ones for the whole operation. */
  get chains(): Chains {
    this.#chains ??= this.#parts.settings.chains.current();
    return this.#chains;
  }

  /** What its lookups are read with: one deadline and one limit of cost for all requests of the operation. */
  get lookups(): OperationLookups {
    if (this.#lookups) return this.#lookups;
    const { upstream, settings } = this.#parts;
    const { credential, cachePartition } = this.#caller;
    const { answer, reads } = this;
    const scope = {
      credential,
      deadline: createDeadline(settings.operationMs, () => answer.stopSignal, upstream.now),
      usage: this.upstream,
      maxComputeUnits: settings.maxComputeUnits,
      trace: this.trace,
      client: this.billingKey,
    };
    this.#lookups = { gateway: upstream, scope, cachePartition, reads, loaders: new Map() };
    return this.#lookups;
  }

  get webhooks() {
    const { keyedQueue, verifiedKeys, upstream } = this.#parts;
    const { scope, cachePartition } = this.lookups;
    this.#webhooks ??= createWebhookSession({ ...upstream, scope, cachePartition, keyedQueue, verifiedKeys });
    return this.#webhooks;
  }

  get watchedWallets() {
    const { keyedQueue, settings } = this.#parts;
    const { webhooks, deliveries } = this;
    return createWatchedWallets({
      webhooks,
      destination: deliveries,
      keyedQueue,
      max: settings.maxWatchedWallets,
    });
  }

  get deliveries() {
    const { deliveries, settings, searchLimiter, feedReads } = this.#parts;
    this.#deliveries ??= createTenantDeliveries({
      ...deliveries,
      searchLimiter,
      feedReads,
      publicUrl: settings.publicUrl(),
      tenant: this.#caller.tenant,
      maxPageBytes: settings.answers.maxBytes / 3,
      client: this.billingKey,
      clientSignal: this.#clientSignal,
    });
    return this.#deliveries;
  }
}
