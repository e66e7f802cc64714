import { type Environment, readVariables, type ValuesOf } from './variable.ts';
import { TRACES, type TRACES_SWITCHES } from './variables/traces.ts';

type Read = ValuesOf<typeof TRACES>;

/** How traces are made, and where they are exported to. */
export type TracesConfig = {
  /** The URL to which spans are posted. */
  readonly url: string;
  readonly protocol: 'http/protobuf' | 'http/json';
  /** May hold a secret. */
  readonly headers: Readonly<Record<string, string>>;
  readonly sampler: SamplerConfig;
  /** Whether `traceparent` is read from clients, and sent upstream. */
  readonly propagates: boolean;
  /** The variables OTEL_BSP_*, as they are set: the SDK has defaults for them, and no part of the gateway depends on one. */
  readonly batches: Environment;
};

export type SamplerConfig = {
  /** The share of new traces that are recorded, from 0 to 1. */
  readonly ratio: number;
  /** Whether a client's decision is followed. */
  readonly isParentBased: boolean;
};

/** Whether there is an endpoint, or OTEL_TRACES_EXPORTER is `otlp`. The other variables of traces are read only then. */
export const areTracesOn = (env: Environment, read: ValuesOf<typeof TRACES_SWITCHES>): boolean => {
  const hasEndpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  const isNamed = env.OTEL_TRACES_EXPORTER ? read.OTEL_TRACES_EXPORTER === 'otlp' : Boolean(hasEndpoint);
  return isNamed && !read.OTEL_SDK_DISABLED;
};

/** Reads how traces are made. */
export const readTraces = (env: Environment, problems: string[]): Read => {
  const read = readVariables(TRACES, env, problems);
  if (env.OTEL_TRACES_SAMPLER_ARG && kindOf(read) !== 'traceidratio')
    problems.push(
      `OTEL_TRACES_SAMPLER_ARG: expected a sampler with traceidratio beside it, got ${env.OTEL_TRACES_SAMPLER || 'none'}`,
    );
  return read;
};

const kindOf = ({ OTEL_TRACES_SAMPLER }: Read): string => OTEL_TRACES_SAMPLER.replace('parentbased_', '');

export const tracesOf = (read: Read, env: Environment): TracesConfig => {
  const base = read.OTEL_EXPORTER_OTLP_ENDPOINT ?? 'http://localhost:4318';
  const kind = kindOf(read);
  return {
    url: read.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? tracesUrlOf(base),
    protocol: read.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? read.OTEL_EXPORTER_OTLP_PROTOCOL,
    headers: read.OTEL_EXPORTER_OTLP_TRACES_HEADERS ?? read.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    sampler: {
      ratio: kind === 'always_off' ? 0 : kind === 'always_on' ? 1 : (read.OTEL_TRACES_SAMPLER_ARG ?? 1),
      isParentBased: kind !== read.OTEL_TRACES_SAMPLER,
    },
    propagates: read.OTEL_PROPAGATORS.includes('tracecontext'),
    batches: Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('OTEL_BSP_'))),
  };
};

/** The URL for traces of an endpoint for all signals. */
const tracesUrlOf = (endpoint: string): string => {
  const url = new URL(endpoint);
  url.pathname = url.pathname.replace(/\/*$/, '/v1/traces');
  return url.href;
};
