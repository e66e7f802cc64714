import { SpanKind } from '@opentelemetry/api';
import { childOf } from '../../lib/trace-context.ts';
import { inSnakeCase } from '../words.ts';
import { isUnsampled, type Spans } from './spans.ts';
import type { Traces } from './traces.ts';

/** The span of getting a page, by its cache result. The requests that it causes are below it. */
export const createPageSpans =
  (spans: Spans): Traces['pages'] =>
  (resource) => ({
    getting: (trace) =>
      spans.begin(trace, `page ${resource}`, { attributes: { 'gateway.resource': resource } }),
    got({ result, trace, joined, failed }) {
      spans.end(trace, {
        attributes: { 'gateway.cache.result': inSnakeCase(result) },
        error: failed ? 'failed' : null,
        link: joined,
      });
    },
  });

/**
 * The span of each attempt of an upstream request, from when it was sent. Its path and query are left out: they name
 * wallets. `url` is upstream's; null for the sandbox.
 */
export const createUpstreamSpans = (spans: Spans, url: string | null): Traces['upstream'] => {
  const { hostname, port, protocol } = new URL(url ?? 'http://sandbox');
  const server = {
    'server.address': hostname,
    ...(url !== null && { 'server.port': Number(port || (protocol === 'https:' ? 443 : 80)) }),
  };
  return {
    sending({ resource, method, number, queuedMs, trace: parent }) {
      if (isUnsampled(parent)) return spans.propagates ? childOf(parent) : { ...parent, traceparent: null };
      const trace = spans.begin(parent, `${method} ${resource}`, {
        kind: SpanKind.CLIENT,
        attributes: {
          ...server,
          'http.request.method': method,
          'gateway.resource': resource,
          'gateway.upstream.queued_ms': Math.round(queuedMs),
          ...(number > 1 && { 'http.request.resend_count': number - 1 }),
        },
      });
      return spans.propagates ? trace : spans.unnamed(trace);
    },
    ended({ resource, method, number, error, sent, status, queuedMs, computeUnits, trace }) {
      const failure = error?.failure ?? (status === null ? '_OTHER' : null);
      if (sent)
        return spans.end(trace, {
          attributes: {
            ...(status !== null && { 'http.response.status_code': status }),
            'gateway.upstream.compute_units': computeUnits,
          },
          error: failure,
        });
      const unsent = spans.begin(trace, `${method} ${resource}`, {
        startTime: performance.now() - queuedMs,
        attributes: {
          'gateway.resource': resource,
          'gateway.upstream.sent': false,
          ...(number > 1 && { 'http.request.resend_count': number - 1 }),
        },
      });
      spans.end(unsent, { error: failure });
    },
  };
};
