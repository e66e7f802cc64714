import type { Config } from './config.ts';
import type { Environment, Variable } from './environment.ts';
import { secret, shown } from './shown.ts';
import type { SamplerConfig, TracesConfig } from './traces.ts';

type TracesVariable = Extract<Variable, `OTEL_${string}`>;

type Show = (config: Config, env: Environment) => string | number;

const whileOn =
  (show: (traces: TracesConfig) => string | number): Show =>
  ({ traces }) =>
    traces === null ? 'not used: traces are off' : show(traces);

/** Of two variables for the same, the one for traces wins. Both show what is used. */
const url = whileOn((traces) => shown(traces.url));
const protocol = whileOn((traces) => traces.protocol);
const headers = whileOn((traces) => secret(Object.keys(traces.headers).length === 0 ? null : traces.headers));
const timeout = whileOn((traces) => traces.timeoutMs);
const compression = whileOn((traces) => traces.compression);

const samplerName = ({ ratio, isParentBased }: SamplerConfig): string => {
  const name = ratio === 0 ? 'always_off' : ratio === 1 ? 'always_on' : 'traceidratio';
  return isParentBased ? `parentbased_${name}` : name;
};

/** How the variables of traces are understood. */
export const TRACES_VALUES: { readonly [name in TracesVariable]: Show } = {
  OTEL_SDK_DISABLED: (_config, env) => env.OTEL_SDK_DISABLED?.toLowerCase() || 'false',
  OTEL_TRACES_EXPORTER: ({ traces }) => (traces === null ? 'none' : 'otlp'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_HEADERS: headers,
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: headers,
  OTEL_EXPORTER_OTLP_TIMEOUT: timeout,
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: timeout,
  OTEL_EXPORTER_OTLP_COMPRESSION: compression,
  OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: compression,
  OTEL_SERVICE_NAME: whileOn(({ resource }) => resource['service.name'] ?? 'none'),
  OTEL_RESOURCE_ATTRIBUTES: whileOn(({ resource }) =>
    Object.entries(resource)
      .map(([name, value]) => `${name}=${value}`)
      .join(','),
  ),
  OTEL_TRACES_SAMPLER: whileOn(({ sampler }) => samplerName(sampler)),
  OTEL_TRACES_SAMPLER_ARG: whileOn(({ sampler }) => sampler.ratio),
  OTEL_PROPAGATORS: whileOn(({ propagates }) => (propagates ? 'tracecontext' : 'none')),
  OTEL_BSP_SCHEDULE_DELAY: whileOn(({ queue }) => queue.delayMs),
  OTEL_BSP_EXPORT_TIMEOUT: whileOn(({ queue }) => queue.exportMs),
  OTEL_BSP_MAX_QUEUE_SIZE: whileOn(({ queue }) => queue.maxSpans),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: whileOn(({ queue }) => queue.maxBatch),
};
