import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { TracesConfig } from '../../config/traces.ts';
import type { Log } from '../../logger.ts';

/** Posts spans by OTLP over HTTP. */
export const createExporter = async (config: TracesConfig): Promise<SpanExporter> => {
  const { OTLPTraceExporter } = await (config.protocol === 'http/json'
    ? import('@opentelemetry/exporter-trace-otlp-http')
    : import('@opentelemetry/exporter-trace-otlp-proto'));
  type Options = NonNullable<ConstructorParameters<typeof OTLPTraceExporter>[0]>;
  return new OTLPTraceExporter({
    url: config.url,
    headers: { ...config.headers },
    timeoutMillis: config.timeoutMs,
    compression: config.compression as NonNullable<Options['compression']>,
    httpAgentOptions: { keepAlive: true },
  });
};

/**
 * Logs one line when exports begin to fail, and one when they succeed again. The lines never quote the receiver, whose
 * address or answer may hold a secret.
 */
export const reportExports = (exporter: SpanExporter, log: Log): SpanExporter => {
  let lost = 0;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.code !== SUCCESS) {
          if (lost === 0) log.warn('traces: export failed', { reason: reasonOf(result.error) });
          lost += spans.length;
        } else if (lost > 0) {
          log.info('traces: export recovered', { lostSpans: lost });
          lost = 0;
        }
        // The failure is reported: the SDK would report it a second time, to nothing.
        done({ code: SUCCESS });
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
};

const SUCCESS = 0;

/** The receiver's status, or the system's code of a failed connection. */
const reasonOf = (error: Error | undefined): string => {
  const code = error && 'code' in error ? error.code : null;
  if (typeof code === 'number') return `status ${code}`;
  return typeof code === 'string' && /^E[A-Z]{2,20}$/.test(code) ? code : 'no answer, or a temporary failure';
};
