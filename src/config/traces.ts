import { z } from 'zod';
import type { Environment, Read, Variable } from './environment.ts';
import { commaList, headerName, integerIn } from './environment.ts';

/** How traces are made, and where they are exported to: OpenTelemetry's standard variables. */
export type TracesConfig = {
  /** The URL to which spans are posted. */
  readonly url: string;
  readonly protocol: 'http/protobuf' | 'http/json';
  /** May hold a secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds for one export, its retries included. */
  readonly timeoutMs: number;
  readonly compression: 'gzip' | 'none';
  /** Of the process that makes the spans; `service.name` among them. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: SamplerConfig;
  /** Whether `traceparent` is read from clients, and sent upstream. */
  readonly propagates: boolean;
  /** Spans wait in a queue, and leave it in batches. */
  readonly queue: {
    readonly maxSpans: number;
    readonly maxBatch: number;
    readonly delayMs: number;
    readonly exportMs: number;
  };
};

export type SamplerConfig = {
  /** The share of new traces that are recorded, from 0 to 1. */
  readonly ratio: number;
  /** Whether a client's decision is followed. */
  readonly isParentBased: boolean;
};

const SERVICE_NAME = 'evm-graphql-gateway';
const SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const;
const SAMPLER_NAMES = [...SAMPLERS, ...SAMPLERS.map((name) => `parentbased_${name}` as const)] as const;
const PROTOCOLS = ['http/protobuf', 'http/json'] as const;
const PROPAGATORS = ['tracecontext', 'baggage', 'b3', 'b3multi', 'jaeger', 'xray', 'ottrace', 'none'];
const MAX_MS = 600_000;
const MAX_QUEUED = 100_000;
/** An export is serialised at once: some ten microseconds a span. */
const MAX_BATCH = 4096;

/**
 * Reads what OpenTelemetry names. Null unless an endpoint is set, or OTEL_TRACES_EXPORTER is `otlp`; also null with
 * OTEL_SDK_DISABLED or the exporter `none`. In these cases nothing else is read.
 */
export const readTraces = (env: Environment, read: Read, problems: string[]): TracesConfig | null => {
  const disabled = read(
    'OTEL_SDK_DISABLED',
    z.stringbool({ truthy: ['true'], falsy: ['false'] }),
    'true or false',
  );
  const exporter = read('OTEL_TRACES_EXPORTER', z.enum(['otlp', 'none']), 'otlp or none');
  const hasEndpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  const isNamed = env.OTEL_TRACES_EXPORTER ? exporter === 'otlp' : hasEndpoint;
  if (disabled || !isNamed) return null;

  /** From the variable for traces, else from the one for all signals. */
  const ofEither = <Value>(suffix: Suffix, schema: z.ZodType<Value>, expected: string, secret = false) =>
    read(`OTEL_EXPORTER_OTLP_TRACES_${suffix}`, schema, expected, secret) ??
    read(`OTEL_EXPORTER_OTLP_${suffix}`, schema, expected, secret);
  const integer = (name: Variable, otherwise: number, min: number, max: number): number =>
    read(name, integerIn(min, max), `an integer from ${min} to ${max}`) ?? otherwise;

  const base = read('OTEL_EXPORTER_OTLP_ENDPOINT', endpoint, EXPECTED_ENDPOINT, true);
  const own = read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', endpoint, EXPECTED_ENDPOINT, true);
  const maxSpans = integer('OTEL_BSP_MAX_QUEUE_SIZE', 2048, 1, MAX_QUEUED);
  const resource = read(
    'OTEL_RESOURCE_ATTRIBUTES',
    keyValues,
    'key=value pairs, comma-separated, with percent-encoded values',
  );
  return {
    url: own ?? tracesUrlOf(base ?? 'http://localhost:4318'),
    protocol: ofEither('PROTOCOL', z.enum(PROTOCOLS), `one of ${PROTOCOLS.join(', ')}`) ?? 'http/protobuf',
    headers:
      ofEither(
        'HEADERS',
        headers,
        'name=value pairs of headers, comma-separated, with percent-encoded values',
        true,
      ) ?? {},
    timeoutMs: ofEither('TIMEOUT', integerIn(1, MAX_MS), `an integer from 1 to ${MAX_MS}`) ?? 10_000,
    compression: ofEither('COMPRESSION', z.enum(['gzip', 'none']), 'gzip or none') ?? 'none',
    resource: {
      'service.name': SERVICE_NAME,
      ...resource,
      ...(env.OTEL_SERVICE_NAME && { 'service.name': env.OTEL_SERVICE_NAME }),
    },
    sampler: readSampler(env, read, problems),
    propagates:
      read('OTEL_PROPAGATORS', propagators, `some of ${PROPAGATORS.join(', ')}, comma-separated`) ?? true,
    queue: {
      maxSpans,
      maxBatch: Math.min(maxSpans, integer('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512, 1, MAX_BATCH)),
      delayMs: integer('OTEL_BSP_SCHEDULE_DELAY', 5000, 1, MAX_MS),
      exportMs: integer('OTEL_BSP_EXPORT_TIMEOUT', 30_000, 1, MAX_MS),
    },
  };
};

type Suffix = 'PROTOCOL' | 'HEADERS' | 'TIMEOUT' | 'COMPRESSION';

const readSampler = (env: Environment, read: Read, problems: string[]): SamplerConfig => {
  const name = read('OTEL_TRACES_SAMPLER', z.enum(SAMPLER_NAMES), `one of ${SAMPLER_NAMES.join(', ')}`);
  const argument = read('OTEL_TRACES_SAMPLER_ARG', ratio, 'a number from 0 to 1');
  const kind = (name ?? 'parentbased_always_on').replace('parentbased_', '');
  if (env.OTEL_TRACES_SAMPLER_ARG && kind !== 'traceidratio')
    problems.push(
      `OTEL_TRACES_SAMPLER_ARG: expected a sampler with traceidratio beside it, got ${name ?? 'none'}`,
    );
  return {
    ratio: kind === 'always_off' ? 0 : kind === 'always_on' ? 1 : (argument ?? 1),
    isParentBased: name === null || name.startsWith('parentbased_'),
  };
};

/** The URL for traces of an endpoint for all signals. */
const tracesUrlOf = (endpoint: string): string => {
  const url = new URL(endpoint);
  url.pathname = url.pathname.replace(/\/*$/, '/v1/traces');
  return url.href;
};

const EXPECTED_ENDPOINT = 'an http or https URL without credentials';

const endpoint = z
  .url({ protocol: /^https?$/ })
  .transform((text) => new URL(text))
  .refine((url) => !url.username && !url.password && !url.hash)
  .transform((url) => url.href);

const ratio = z
  .string()
  .regex(/^(0|1|0?\.\d{1,12}|1\.0+)$/)
  .transform(Number);

const decoded = (text: string): string | null => {
  try {
    return decodeURIComponent(text.trim());
  } catch {
    return null;
  }
};

/** `key=value,key2=value2`, with percent-encoded values. If a key is repeated, the last value counts. */
const keyValues = commaList
  .pipe(z.array(z.string().regex(/^[^=\s]+\s*=/)))
  .transform((pairs) =>
    pairs.map((pair): readonly [string, string | null] => {
      const end = pair.indexOf('=');
      return [pair.slice(0, end).trim(), decoded(pair.slice(end + 1))];
    }),
  )
  .refine((pairs) => pairs.every(([, value]) => value !== null))
  .transform(
    (pairs): Record<string, string> => Object.fromEntries(pairs.map(([key, value]) => [key, value ?? ''])),
  );

const headers = keyValues.refine((pairs) =>
  Object.entries(pairs).every(
    ([name, value]) => headerName.safeParse(name).success && /^[\x20-\x7e]{1,8192}$/.test(value),
  ),
);

/** Whether the trace context is among them. The gateway neither reads nor sends any other. */
const propagators = commaList
  .pipe(z.array(z.enum(PROPAGATORS)))
  .transform((names) => names.includes('tracecontext'));
