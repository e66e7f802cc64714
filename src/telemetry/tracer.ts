import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanOptions,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace as tracing,
} from '@opentelemetry/api';
import type { Trace } from '../lib/trace.ts';

/** How a span ends. */
type End = {
  readonly attributes?: Attributes;
  /** What kind of failure it was, in one word; null for none. Never a message: it may quote a client or upstream. */
  readonly error?: string | null;
  /** The trace of another operation whose work this one has used. */
  readonly link?: Trace | null;
};

type Options = {
  readonly tracer: Tracer;
  /** Whether clients' traces are continued, and upstream gets this one. */
  readonly propagates: boolean;
};

/** Makes spans. Each makes a trace for the work below it, by which the span is found again. */
export class Spans {
  readonly propagates: boolean;
  readonly #tracer: Tracer;
  /** The spans that are recorded and have not ended. */
  readonly #open = new WeakMap<Trace, Span>();

  constructor({ tracer, propagates }: Options) {
    this.#tracer = tracer;
    this.propagates = propagates;
  }

  /** Begins a span below that of a trace. */
  begin(parent: Trace, name: string, options: SpanOptions = {}): Trace {
    // It costs nothing if nothing of the trace is recorded.
    if (isUnsampled(parent)) return parent;
    return this.#start(parent, name, options, contextOf(parent, false));
  }

  /** Begins a span for a client, below the span that the client names. */
  beginForClient(client: Trace, name: string, options: SpanOptions): Trace {
    const parent = this.propagates ? contextOf(client, true) : ROOT_CONTEXT;
    return this.#start(client, name, options, parent);
  }

  /** Begins a trace of its own, with links to its causes. */
  beginLinked(
    causes: readonly (Trace | null)[],
    name: string,
    options: SpanOptions,
    requestId: string,
  ): Trace {
    const links = causes.flatMap((cause) => (cause && !isUnsampled(cause) ? linkTo(cause) : []));
    return this.#start({ requestId, traceparent: null }, name, { ...options, links }, ROOT_CONTEXT);
  }

  /** The same trace without the name of its span, for a peer that must not learn it. */
  unnamed(trace: Trace): Trace {
    const span = this.#open.get(trace);
    const unnamed: Trace = { ...trace, traceparent: null };
    if (span) this.#open.set(unnamed, span);
    return unnamed;
  }

  /** Adds attributes to a span that has not ended. */
  annotate(trace: Trace, attributes: Attributes): void {
    this.#open.get(trace)?.setAttributes(attributes);
  }

  /** Whether the span of a trace is recorded, and has not ended. */
  isOpen(trace: Trace): boolean {
    return this.#open.has(trace);
  }

  /** Ends the span that has made a trace. Further calls have no effect. */
  end(trace: Trace, { attributes, error = null, link = null }: End = {}): void {
    const span = this.#open.get(trace);
    if (!span) return;
    this.#open.delete(trace);
    if (attributes) span.setAttributes(attributes);
    if (error !== null) span.setAttribute('error.type', error).setStatus({ code: SpanStatusCode.ERROR });
    if (link) span.addLinks(linkTo(link));
    span.end();
  }

  #start(parent: Trace, name: string, options: SpanOptions, context: Context): Trace {
    const span = this.#tracer.startSpan(name, options, context);
    const trace: Trace = { requestId: parent.requestId, traceparent: traceparentOf(span.spanContext()) };
    if (span.isRecording()) this.#open.set(trace, span);
    return trace;
  }
}

/** Whether a trace is known not to be recorded. */
export const isUnsampled = ({ traceparent }: Trace): boolean =>
  traceparent !== null && sampledFlag(traceparent) === 0;

const sampledFlag = (traceparent: string): number =>
  Number.parseInt(traceparent.split('-')[3] ?? '', 16) & TraceFlags.SAMPLED;

const spanContextOf = ({ traceparent }: Trace, isRemote: boolean): SpanContext | null => {
  if (traceparent === null) return null;
  const [, traceId = '', spanId = ''] = traceparent.split('-');
  return { traceId, spanId, traceFlags: sampledFlag(traceparent), isRemote };
};

const contextOf = (trace: Trace, isRemote: boolean): Context => {
  const spanContext = spanContextOf(trace, isRemote);
  return spanContext ? tracing.setSpanContext(ROOT_CONTEXT, spanContext) : ROOT_CONTEXT;
};

const linkTo = (trace: Trace) => {
  const context = spanContextOf(trace, false);
  return context ? [{ context }] : [];
};

const traceparentOf = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`;
