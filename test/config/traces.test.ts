import { expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/config.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

const problemsOf = (env: Record<string, string>): readonly string[] => {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};

test.each<[string, Record<string, string>, string | null]>([
  ['nothing is set', {}, null],
  ['only names and samplers are set', { OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' }, null],
  ['the endpoint is empty', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, null],
  ['there is an endpoint', endpoint, 'http://collector:4318/v1/traces'],
  ['it has a path', { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c/otlp/' }, 'https://c/otlp/v1/traces'],
  ['it has a query', { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c/?b=c' }, 'https://c/v1/traces?b=c'],
  ['it is for traces', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://c/a?b=c' }, 'https://c/a?b=c'],
  ['the exporter is named', { OTEL_TRACES_EXPORTER: 'otlp' }, 'http://localhost:4318/v1/traces'],
  ['the exporter is none', { ...endpoint, OTEL_TRACES_EXPORTER: 'none' }, null],
  ['the SDK is disabled', { ...endpoint, OTEL_SDK_DISABLED: 'TRUE' }, null],
  ['the SDK is not disabled', { ...endpoint, OTEL_SDK_DISABLED: 'false' }, 'http://collector:4318/v1/traces'],
])('when %s', (_what, env, url) => {
  expect(readConfig(env).traces?.url ?? null).toBe(url);
});

test('the defaults are those of the standard', () => {
  expect(readConfig(endpoint).traces).toEqual({
    url: 'http://collector:4318/v1/traces',
    protocol: 'http/protobuf',
    headers: {},
    sampler: { ratio: 1, isParentBased: true },
    propagates: true,
    batches: {},
  });
});

test('variables for traces win over those for all signals', () => {
  const { traces } = readConfig({
    ...endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: ' Authorization = Bearer%20abc%3D , x-b=c=d',
  });
  expect(traces).toMatchObject({
    protocol: 'http/json',
    headers: { Authorization: 'Bearer abc=', 'x-b': 'c=d' },
  });
});

test.each([
  ['always_on', '', { ratio: 1, isParentBased: false }],
  ['always_off', '', { ratio: 0, isParentBased: false }],
  ['traceidratio', '0.25', { ratio: 0.25, isParentBased: false }],
  ['parentbased_always_on', '', { ratio: 1, isParentBased: true }],
  ['parentbased_always_off', '', { ratio: 0, isParentBased: true }],
  ['parentbased_traceidratio', '.5', { ratio: 0.5, isParentBased: true }],
  ['parentbased_traceidratio', '1.0', { ratio: 1, isParentBased: true }],
])('the sampler %s %s', (name, argument, expected) => {
  const env = { ...endpoint, OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument };
  expect(readConfig(env).traces?.sampler).toEqual(expected);
});

const secret = 'c2VjcmV0';

test.each<[string, string]>([
  ['OTEL_SDK_DISABLED', 'yes'],
  ['OTEL_TRACES_EXPORTER', 'console'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'grpc://collector:4317'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', `http://user:${secret}@collector`],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'not a url'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
  ['OTEL_EXPORTER_OTLP_HEADERS', secret],
  ['OTEL_EXPORTER_OTLP_HEADERS', `authorization=%E0%A4%A${secret}`],
  ['OTEL_EXPORTER_OTLP_HEADERS', `host=${secret}`],
  ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', `a=${secret}%0Ab`],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
  ['OTEL_TRACES_SAMPLER_ARG', '0.5'],
  ['OTEL_TRACES_SAMPLER_ARG', '2'],
  ['OTEL_PROPAGATORS', 'tracecontext,carrier-pigeon'],
])('a bad %s is a named problem that shows no secret: %s', (name, value) => {
  const problems = problemsOf({ ...endpoint, [name]: value });
  expect(problems.length).toBeGreaterThan(0);
  for (const problem of problems) {
    expect(problem.startsWith(`${name}: expected`)).toBe(true);
    expect(problem).not.toContain(secret);
  }
});

test('what is off is not checked', () => {
  expect(problemsOf({ OTEL_TRACES_SAMPLER: 'nonsense', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toEqual([]);
});
