import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import {
  buildSchema,
  type DocumentNode,
  type ExecutionArgs,
  GraphQLError,
  getNamedType,
  isIntrospectionType,
  isObjectType,
  parse,
  type ValidatedExecutionArgs,
  validate,
  validateExecutionArgs,
} from 'graphql';
import { expect, test } from 'vitest';
import { type Executor, executeAny, executeFast } from '../../../src/graph/executor.ts';
import { runs } from '../../support/runs.ts';

/** The executor for objects and leaves makes what that of graphql-js makes, also where fields fail at any time. */

const schema = buildSchema(`
  type Query { thing: Thing, sure: Thing!, text: String, count: Int!, of(count: Int! = 1, name: String): Int }
  type Subscription { thing: Thing, sure: Thing! }
  type Thing { thing: Thing, sure: Thing!, text: String!, count: Int, of(count: Int! = 1, name: String): Int! }
`);

/** What a field resolves to, at once or later. */
type Outcome = { readonly kind: 'value' | 'null' | 'error' | 'wrong'; readonly isLate: boolean };

const outcome = fc.record<Outcome>({
  kind: fc.oneof(
    { weight: 6, arbitrary: fc.constant('value' as const) },
    { weight: 1, arbitrary: fc.constantFrom('null' as const, 'error' as const, 'wrong' as const) },
  ),
  isLate: fc.boolean(),
});

const VALUES: Readonly<Record<string, unknown>> = { Thing: {}, Int: 7, String: 'a text' };
const WRONG: Readonly<Record<string, unknown>> = {
  Thing: new Error('an error'),
  Int: 'no number',
  String: {},
};

const settle = (kind: Outcome['kind'], type: string, place: string): unknown => {
  if (kind === 'error') throw new GraphQLError(`failed at ${place}`);
  if (kind === 'null') return null;
  return (kind === 'wrong' ? WRONG : VALUES)[type];
};

/** The fields that resolve later: one a turn, in an order that does not depend on the executor. */
const waiting: { readonly place: string; readonly at: number; begin(): void }[] = [];

/** Resolves each field to one of the outcomes, by its path: both executors meet the same. */
const resolveTo = (outcomes: readonly Outcome[]): void => {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields()))
      field.resolve = (_source, args, _context, { path, returnType }) => {
        const place = JSON.stringify([pathOf(path), args]);
        const at = [...place].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 9973, 7);
        const { kind, isLate } = outcomes[at % outcomes.length] as Outcome;
        const resolve = () => settle(kind, getNamedType(returnType).name, place);
        if (!isLate) return resolve();
        const { promise, resolve: begin } = Promise.withResolvers<void>();
        waiting.push({ place, at, begin });
        return promise.then(resolve);
      };
  }
};

type Path = { readonly prev: Path | undefined; readonly key: string | number };
const pathOf = ({ prev, key }: Path): readonly (string | number)[] => [...(prev ? pathOf(prev) : []), key];

const LEAVES = ['text', 'count', 'of', 'of(count: 3)', 'of(count: $n)', '__typename', 'then: text'];

const { selection } = fc.letrec<{ selection: string; field: string }>((tie) => ({
  field: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(...LEAVES),
    fc
      .tuple(fc.constantFrom('thing', 'sure', 'then: thing', '__proto__: thing'), tie('selection'))
      .map(([name, inner]) => `${name} { ${inner} }`),
    fc
      .tuple(fc.constantFrom('@include(if: $on)', '@skip(if: $on)', ''), tie('selection'))
      .map(([directive, inner]) => `thing { ... ${directive} { ${inner} } ...Part }`),
  ),
  selection: fc.array(tie('field'), { minLength: 1, maxLength: 4 }).map((fields) => fields.join(' ')),
}));

const validated = (args: ExecutionArgs): ValidatedExecutionArgs => {
  const operation = validateExecutionArgs(args);
  if ('schema' in operation) return operation;
  throw new AggregateError(operation, 'Expected valid arguments.');
};

const shown = async (execute: Executor, document: DocumentNode, on: unknown) => {
  const args = { schema, document, variableValues: { on, n: 5 }, contextValue: {} };
  const state = { isOver: false };
  const result = Promise.resolve(execute(validated(args))).finally(() => {
    state.isOver = true;
  });
  for (await nextTurn(); !state.isOver || waiting.length > 0; await nextTurn()) {
    waiting.sort((one, other) => one.at - other.at || (one.place < other.place ? -1 : 1));
    waiting.shift()?.begin();
  }
  return JSON.stringify(await result);
};

const VARIABLES = '($on: Boolean = true, $n: Int! = 2)';

test('it makes the same data and errors as graphql-js', async () => {
  let [compared, failed] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      selection,
      fc.array(outcome, { minLength: 3, maxLength: 12 }),
      fc.constantFrom(true, false, null),
      fc.constantFrom('query', 'event of thing', 'event of sure'),
      async (fields, outcomes, on, kind) => {
        const [, root] = kind.split('event of ');
        const operation = root
          ? `subscription ${VARIABLES} { ${root} { ${fields} } }`
          : `query ${VARIABLES} { ${fields} }`;
        const text = `${operation} fragment Part on Thing { text sure { count } }`;
        const document = parse(text);
        // A fragment or a variable may be unused, and fields of one name may differ.
        const problems = validate(schema, document).filter(({ message }) => !/never used/.test(message));
        fc.pre(problems.length === 0);
        resolveTo(outcomes);
        const expected = await shown(executeAny, document, on);
        // The second time, its fields are known.
        for (let time = 0; time < 2; time += 1)
          expect([text, await shown(executeFast, document, on)]).toEqual([text, expected]);
        compared += 1;
        failed += expected.startsWith('{"errors"') ? 1 : 0;
      },
    ),
    { numRuns: runs(300, 60) },
  );
  expect(compared).toBeGreaterThan(10);
  expect(failed).toBeGreaterThan(0);
});

test.each([
  ['a mutation', 'mutation { set }'],
  ['a list of objects', '{ things { text } }'],
  ['an interface', '{ named { name } }'],
  ['introspection', '{ __schema { queryType { name } } }'],
])('it leaves %s to graphql-js', async (_, text) => {
  const other = buildSchema(`
    type Query { things: [Thing!]!, named: Named }
    type Mutation { set: Int }
    type Thing implements Named { text: String, name: String }
    interface Named { name: String }
  `);
  const rootValue = { set: 1, things: [{ text: 'a' }], named: { __typename: 'Thing', name: 'b' } };
  const operation = validated({ schema: other, document: parse(text), rootValue });
  const result = await executeFast(operation);
  expect(result.errors).toBeUndefined();
  expect(JSON.stringify(result)).toBe(JSON.stringify(await executeAny(operation)));
});
