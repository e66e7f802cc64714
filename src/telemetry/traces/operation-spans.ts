import { createHash } from 'node:crypto';
import type { Attributes } from '@opentelemetry/api';
import type { DocumentNode } from 'graphql';
import { rememberEach } from '../../lib/remember-each.ts';
import { inSnakeCase } from '../words.ts';
import type { Spans } from './spans.ts';
import type { Traces } from './traces.ts';

/** The client chooses the name. */
const MAX_NAME = 100;

/** The attributes that say which operation it is. Neither its document nor its variables are among them. */
export type DescribeOperation = (type: string, name: string | null, document: DocumentNode) => Attributes;

export const createDescribeOperation = (): DescribeOperation => {
  const hashOf = rememberEach((document: DocumentNode) =>
    createHash('sha256')
      .update(document.loc?.source.body ?? '')
      .digest('hex'),
  );
  return (type, name, document) => ({
    'graphql.operation.type': type,
    ...(name !== null && { 'graphql.operation.name': name.slice(0, MAX_NAME) }),
    'gateway.document.sha256': hashOf(document),
  });
};

/** The span of an operation while it runs. A subscription's ends when its first event can be sent. */
export const createOperationSpans = (spans: Spans, describe: DescribeOperation): Traces['operations'] => ({
  started: ({ type, transport, name, document, trace }) =>
    spans.begin(trace, type, {
      attributes: { ...describe(type, name, document), 'gateway.transport': transport },
    }),
  answered({ codes, abandoned, durationMs, upstream, trace }) {
    const failure = { ...(codes.length > 0 && { 'gateway.error.codes': [...codes] }) };
    // It was rejected before it ran: the span of its request says so.
    if (durationMs === null) return spans.annotate(trace, failure);
    spans.end(trace, {
      attributes: {
        ...failure,
        ...(abandoned && { 'gateway.client.disconnected': true }),
        ...(upstream && {
          'gateway.upstream.requests': upstream.requests,
          'gateway.upstream.compute_units': upstream.computeUnits,
          'gateway.upstream.cached': upstream.cached,
        }),
      },
      error: abandoned ? null : (codes[0] ?? null),
    });
  },
  // The request of an event stream may take hours. Its span ends when the stream begins.
  streaming(trace) {
    spans.end(trace, { attributes: { 'http.response.status_code': 200 } });
    return () => {};
  },
});

/** The spans of parsing and validating a new document, and of the rest that an operation's span says. */
export const createDocumentSpans = (spans: Spans): Traces['documents'] => ({
  reading(step, parent) {
    const trace = spans.begin(parent, `graphql.${step}`);
    return (isInvalid) => spans.end(trace, { error: isInvalid ? 'invalid' : null });
  },
});

export const createSharedAnswerSpans =
  (spans: Spans): Traces['onSharedAnswer'] =>
  (from, trace) =>
    spans.annotate(trace, { 'gateway.answer.shared': inSnakeCase(from) });
