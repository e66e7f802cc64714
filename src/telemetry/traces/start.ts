import { randomUUID } from 'node:crypto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { SamplerConfig, TracesConfig } from '../../config/traces.ts';
import { settlesWithin } from '../../lib/scheduling/task-tracker.ts';
import type { Log } from '../../logger.ts';
import { createDeliverySpans } from './delivery-spans.ts';
import { createExporter, reportExports } from './exporter.ts';
import {
  createDescribeOperation,
  createDocumentSpans,
  createOperationSpans,
  createSharedAnswerSpans,
} from './operation-spans.ts';
import { createHttpSpans, createSocketSpans } from './request-spans.ts';
import { Spans } from './spans.ts';
import type { Traces } from './traces.ts';
import { createPageSpans, createUpstreamSpans } from './upstream-spans.ts';

/**
 * Starts the export of traces. This module is the only one that loads OpenTelemetry's SDK: import it where traces are on.
 * `upstreamUrl` is null for the sandbox.
 */
export const startTraces = async (
  config: TracesConfig,
  upstreamUrl: string | null,
  log: Log,
): Promise<Traces> => {
  const { queue, sampler, propagates } = config;
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({ 'service.instance.id': randomUUID(), ...config.resource }),
    ),
    sampler: createSampler(sampler),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reportExports(await createExporter(config), log),
        maxQueueSize: queue.maxSpans,
        maxExportBatchSize: queue.maxBatch,
        scheduledDelayMillis: queue.delayMs,
        exportTimeoutMillis: queue.exportMs,
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
    onSharedAnswer: createSharedAnswerSpans(spans),
    pages: createPageSpans(spans),
    upstream: createUpstreamSpans(spans, upstreamUrl),
    ...createDeliverySpans(spans, describe),
    stop: (ms) => settlesWithin([provider.shutdown()], ms),
  };
};

const createSampler = ({ ratio, isParentBased }: SamplerConfig): Sampler => {
  const root = rootSampler(ratio);
  return isParentBased ? new ParentBasedSampler({ root }) : root;
};

const rootSampler = (ratio: number): Sampler => {
  if (ratio === 1) return new AlwaysOnSampler();
  return ratio === 0 ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
};
