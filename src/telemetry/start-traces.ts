import { randomUUID } from 'node:crypto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { SamplerConfig, TracesConfig } from '../config/traces.ts';
import type { Log } from '../lib/log.ts';
import { settlesWithin } from '../lib/tasks.ts';
import {
  createDeliverySpans,
  createDescribeOperation,
  createDocumentSpans,
  createHttpSpans,
  createOperationSpans,
  createPageSpans,
  createSharedAnswerSpans,
  createSocketSpans,
  createUpstreamSpans,
} from './spans.ts';
import { Spans } from './tracer.ts';

/** What makes spans of the parts' reports. */
export type Traces = Awaited<ReturnType<typeof startTraces>>;

/**
 * Starts the export of traces. This module is the only one that loads OpenTelemetry's SDK: import it where traces are on.
 * `upstreamUrl` is null for the sandbox.
 */
export const startTraces = async (
  config: TracesConfig,
  version: string,
  upstreamUrl: string | null,
  log: Log,
) => {
  const { batches, sampler, propagates } = config;
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(
        resourceFromAttributes({
          'service.name': SERVICE_NAME,
          'service.instance.id': randomUUID(),
          'service.version': version,
        }),
      )
      // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES of this process.
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: createSampler(sampler),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reportExports(await createExporter(config), log),
        ...batchOptions(batches),
      }),
    ],
  });
  const spans = new Spans({ tracer: provider.getTracer('gateway'), propagates });
  const describe = createDescribeOperation();
  return {
    http: createHttpSpans(spans),
    sockets: createSocketSpans(spans),
    operations: createOperationSpans(spans, describe),
    documents: createDocumentSpans(spans),
    sharedAnswers: createSharedAnswerSpans(spans),
    pages: createPageSpans(spans),
    upstream: createUpstreamSpans(spans, upstreamUrl),
    ...createDeliverySpans(spans, describe),
    /** Exports the spans that have ended. Resolves within this time, with whether all were exported. */
    stop: (ms: number): Promise<boolean> => settlesWithin([provider.shutdown()], ms),
  };
};

const SERVICE_NAME = 'evm-graphql-gateway';

/** The options of a batch processor by the standard's variables, which the processor does not read by itself. */
const BATCH_OPTIONS = {
  OTEL_BSP_MAX_QUEUE_SIZE: 'maxQueueSize',
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: 'maxExportBatchSize',
  OTEL_BSP_SCHEDULE_DELAY: 'scheduledDelayMillis',
  OTEL_BSP_EXPORT_TIMEOUT: 'exportTimeoutMillis',
};

/** As the standard says, what is no number counts as not set. */
const batchOptions = (env: TracesConfig['batches']): { readonly [option: string]: number } =>
  Object.fromEntries(
    Object.entries(BATCH_OPTIONS).flatMap(([name, option]) =>
      Number(env[name]) > 0 ? [[option, Number(env[name])]] : [],
    ),
  );

const createSampler = ({ ratio, isParentBased }: SamplerConfig): Sampler => {
  const root = rootSampler(ratio);
  return isParentBased ? new ParentBasedSampler({ root }) : root;
};

const rootSampler = (ratio: number): Sampler => {
  if (ratio === 1) return new AlwaysOnSampler();
  return ratio === 0 ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
};

/** Posts spans by OTLP over HTTP. The exporter reads its timeout, compression and certificates from the environment of this process. */
const createExporter = async (config: TracesConfig): Promise<SpanExporter> => {
  const { OTLPTraceExporter } = await (config.protocol === 'http/json'
    ? import('@opentelemetry/exporter-trace-otlp-http')
    : import('@opentelemetry/exporter-trace-otlp-proto'));
  return new OTLPTraceExporter({ url: config.url, headers: { ...config.headers } });
};

/**
 * Logs one line when exports begin to fail, and one when they succeed again. The lines never quote the receiver, whose
 * address or answer may hold a secret.
 */
const reportExports = (exporter: SpanExporter, log: Log): SpanExporter => {
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
        // The failure is already reported; the SDK would report it a second time.
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
