import { z } from 'zod';
import { commaList, headerName, oneOf, withoutAccess } from '../kinds.ts';
import { type Kind, variable } from '../variable.ts';

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const;
const SAMPLER_NAMES = [...SAMPLERS, ...SAMPLERS.map((name) => `parentbased_${name}` as const)] as const;
const PROPAGATORS = ['tracecontext', 'baggage', 'b3', 'b3multi', 'jaeger', 'xray', 'ottrace', 'none'];

const endpoint: Kind<string> = {
  schema: z
    .url({ protocol: /^https?$/ })
    .transform((text) => new URL(text))
    .refine((url) => !url.username && !url.password && !url.hash)
    .transform((url) => url.href),
  expected: 'an http or https URL without credentials',
  shows: withoutAccess,
};

const decoded = (text: string): string | null => {
  try {
    return decodeURIComponent(text.trim());
  } catch {
    return null;
  }
};

/** `name=value,name2=value2`, with percent-encoded values. If a name is repeated, the last value counts. */
const headers: Kind<Readonly<Record<string, string>>> = {
  schema: commaList
    .pipe(z.array(z.string().regex(/^[^=\s]+\s*=/)))
    .transform((pairs) =>
      pairs.map((pair): readonly [string, string | null] => {
        const end = pair.indexOf('=');
        return [pair.slice(0, end).trim(), decoded(pair.slice(end + 1))];
      }),
    )
    .refine((pairs) =>
      pairs.every(
        ([name, value]) =>
          headerName.schema.safeParse(name).success && value !== null && /^[\x20-\x7e]{1,8192}$/.test(value),
      ),
    )
    .transform((pairs) => Object.fromEntries(pairs.map(([name, value]) => [name, value ?? '']))),
  expected: 'name=value pairs of headers, comma-separated, with percent-encoded values',
};

const ratio: Kind<number> = {
  schema: z
    .string()
    .regex(/^(0|1|0?\.\d{1,12}|1\.0+)$/)
    .transform(Number),
  expected: 'a number from 0 to 1',
};

const protocol = oneOf(['http/protobuf', 'http/json']);

const propagators: Kind<readonly string[]> = {
  schema: commaList.pipe(z.array(z.enum(PROPAGATORS))),
  expected: `some of ${PROPAGATORS.join(', ')}, comma-separated`,
};

/** Whether traces are made. */
export const TRACES_SWITCHES = {
  OTEL_SDK_DISABLED: variable(
    {
      schema: z.stringbool({ truthy: ['true'], falsy: ['false'] }),
      expected: 'true or false',
      shows: String,
    },
    false,
    '`true` turns traces off.',
    { byDefault: 'false' },
  ),
  OTEL_TRACES_EXPORTER: variable(
    { ...oneOf(['otlp', 'none']), expected: 'otlp or none' },
    null,
    '`otlp` turns traces on, towards http://localhost:4318 by default. `none` turns them off.',
  ),
};

/** How traces are made, and where they are exported to: read only where they are on. OpenTelemetry's SDK reads the rest. */
export const TRACES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: variable(
    endpoint,
    null,
    'Where [traces](traces.md) are posted by OTLP over HTTP, below `/v1/traces`. Setting it turns traces on.',
    { isSecret: true },
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: variable(endpoint, null, 'The same as a whole URL. It comes first.', {
    isSecret: true,
  }),
  OTEL_EXPORTER_OTLP_PROTOCOL: variable(protocol, 'http/protobuf', '`http/protobuf` or `http/json`.'),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: variable(protocol, null, 'The same, for traces alone.'),
  OTEL_EXPORTER_OTLP_HEADERS: variable(
    headers,
    null,
    'Headers of the exports, `name=value`, comma-separated, with percent-encoded values.',
    { isSecret: true },
  ),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: variable(headers, null, 'The same, for traces alone.', {
    isSecret: true,
  }),
  OTEL_TRACES_SAMPLER: variable(
    oneOf(SAMPLER_NAMES),
    'parentbased_always_on',
    'Which traces are recorded: see [Sampling](traces.md#sampling).',
  ),
  OTEL_TRACES_SAMPLER_ARG: variable(ratio, null, 'The share that is recorded, for a sampler with a ratio.', {
    byDefault: '1 with a ratio',
  }),
  OTEL_PROPAGATORS: variable(
    propagators,
    ['tracecontext'],
    'Whether `traceparent` is read and sent while traces are on: `tracecontext` or `none`.',
  ),
};
