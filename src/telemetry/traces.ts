import type { LogObserver } from '../deliveries/log/observer.ts';
import type { SharedFrom } from '../graph/answer/shared-answers.ts';
import { childOf, type Trace } from '../lib/trace.ts';
import type { DocumentObserver } from '../server/graphql/limits/documents.ts';
import type { OperationObserver } from '../server/graphql/observe.ts';
import type { HttpObserver } from '../server/http/exchange.ts';
import type { EventObserver } from '../server/subscriptions/frame.ts';
import type { SocketObserver } from '../server/websocket/connection.ts';
import type { PageObserver } from '../upstream/cache/page-cache.ts';
import type { UpstreamObserver } from '../upstream/client/observer.ts';

/**
 * What makes spans of what the parts report to their observers. A report that something begins returns the trace of what
 * that causes, and the report of its end names this trace.
 */
export type Traces = {
  readonly http: HttpObserver;
  readonly sockets: Pick<SocketObserver, 'received' | 'ended'>;
  readonly operations: OperationObserver;
  readonly documents: DocumentObserver;
  readonly onSharedAnswer: (from: SharedFrom, trace: Trace) => void;
  readonly pages: (resource: string) => Pick<PageObserver, 'getting' | 'got'>;
  readonly upstream: Pick<UpstreamObserver, 'sending' | 'ended'>;
  readonly log: Pick<LogObserver, 'appending' | 'appended' | 'failed' | 'refused'>;
  readonly events: EventObserver;
  /** Exports the spans that have ended. Resolves within this time: whether all were exported. */
  stop(ms: number): Promise<boolean>;
};

const ignore = (): void => {};
const same = (trace: Trace): Trace => trace;
const sameOf = ({ trace }: { readonly trace: Trace }): Trace => trace;

/** Makes no spans: everything belongs to the trace of the client, if that has sent one. */
export const noTraces: Traces = {
  http: { started: (_route, _request, trace) => trace, ended: ignore },
  sockets: { received: same, ended: ignore },
  operations: { started: sameOf, answered: ignore, streaming: () => ignore },
  documents: { reading: () => ignore },
  onSharedAnswer: ignore,
  pages: () => ({ getting: same, got: ignore }),
  upstream: { sending: ({ trace }) => childOf(trace), ended: ignore },
  log: { appending: same, appended: ignore, failed: ignore, refused: ignore },
  events: { executing: sameOf, executed: ignore },
  stop: async () => true,
};
