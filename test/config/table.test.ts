import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { readServiceConfig } from '../../src/config/index-config.ts';
import { COMMON, NAMES, VARIABLES } from '../../src/config/table.ts';
import { sentenceOf, shownValue, type Variables } from '../../src/config/variable.ts';
import { SERVICE_VARIABLES } from '../../src/config/variables/index-of-chains.ts';

/** The table of variables, which the docs, `--check` and deploy's examples are made of. */

/** The defaults that are values, as they are written. */
const defaultsOf = (variables: Variables) =>
  Object.entries(variables).flatMap(([name, variable]) =>
    ['string', 'number', 'boolean'].includes(typeof variable.otherwise)
      ? [[name, shownValue(variable, variable.otherwise)] as const]
      : [],
  );

test('a variable that is set to its default changes nothing', () => {
  const traced = { OTEL_TRACES_EXPORTER: 'otlp' };
  const service = { CHAINS: '31337=http://127.0.0.1:8545', API_KEY: 'key' };
  const defaults = defaultsOf(VARIABLES);
  expect(defaults.length).toBeGreaterThan(20);
  for (const [name, text] of defaults)
    expect(readConfig({ ...traced, [name]: text }), name).toEqual(readConfig(traced));
  for (const [name, text] of defaultsOf(SERVICE_VARIABLES))
    expect(readServiceConfig({ ...service, [name]: text }), name).toEqual(readServiceConfig(service));
});

test('each variable is read, and no other', () => {
  const read = new Set<string>();
  const get = (_target: object, name: string | symbol) => {
    read.add(String(name));
    // The other variables of traces are read only where traces are on.
    return name === 'OTEL_TRACES_EXPORTER' ? 'otlp' : undefined;
  };
  readConfig(new Proxy({}, { get }));
  expect([...read].toSorted()).toEqual(NAMES.toSorted());
});

test('the docs begin with the dozen that most gateways set, and each variable has a sentence', () => {
  expect(COMMON).toHaveLength(12);
  for (const variable of Object.values({ ...VARIABLES, ...SERVICE_VARIABLES }))
    expect(sentenceOf(variable)).toMatch(/^.{8,}\.$/);
});
