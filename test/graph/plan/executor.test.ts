import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import {
  buildSchema,
  type DocumentNode,
  type ExecutionArgs,
  GraphQLError,
  type GraphQLOutputType,
  getNullableType,
  isAbstractType,
  isIntrospectionType,
  isLeafType,
  isListType,
  isObjectType,
  parse,
  type ValidatedExecutionArgs,
  validate,
  validateExecutionArgs,
} from 'graphql';
import { expect, test } from 'vitest';
import { type Executor, executeAny, executeFast } from '../../../src/graph/executor.ts';
import { runs } from '../../support/runs.ts';

/** The gateway's executor makes what that of graphql-js makes, also where fields, items and types fail at any time. */

const schema = buildSchema(`
  type Query {
    thing: Thing, sure: Thing!, text: String, count: Int!, of(count: Int! = 1, name: String): Int
    named: Named, any: Any!, other: Other, things: [Thing!]!, some: [Thing], anies: [Any!], names: [Named]!
    rows: [[Int!]]!, grid: [[Thing!]!]
  }
  type Subscription { thing: Thing, sure: Thing!, anies: [Any!] }
  interface Named { text: String!, things: [Thing!]!, named: Named, names: [Named]! }
  union Any = Thing | Other
  type Thing implements Named {
    thing: Thing, sure: Thing!, text: String!, count: Int, of(count: Int! = 1, name: String): Int!
    named: Named, any: Any!, other: Other, things: [Thing!]!, some: [Thing], anies: [Any!], names: [Named]!
    rows: [[Int!]]!, grid: [[Thing!]!]
  }
  type Other implements Named { text: String!, sum: Int!, thing: Thing, things: [Thing!]!, named: Named, names: [Named]! }
`);

/** What a field, an item of a list or the type of an object turns out to be: at once, in the same turn of the event loop, or later. */
type Outcome = {
  readonly kind: 'value' | 'null' | 'error' | 'wrong';
  readonly when: 'now' | 'soon' | 'later';
  readonly list: 'array' | 'set' | 'generator' | 'async' | 'broken';
  readonly length: number;
};

const outcome = fc.record<Outcome>({
  kind: fc.oneof(
    { weight: 9, arbitrary: fc.constant('value' as const) },
    { weight: 1, arbitrary: fc.constantFrom('null' as const, 'error' as const, 'wrong' as const) },
  ),
  when: fc.oneof(
    { weight: 3, arbitrary: fc.constant('now' as const) },
    { weight: 1, arbitrary: fc.constantFrom('soon' as const, 'later' as const) },
  ),
  list: fc.oneof(
    { weight: 4, arbitrary: fc.constant('array' as const) },
    { weight: 1, arbitrary: fc.constantFrom('set', 'generator', 'async', 'broken') },
  ),
  length: fc.nat(3),
});

const LEAF_VALUES: Readonly<Record<string, unknown>> = { Int: 7, String: 'a text' };
const WRONG_LEAVES: Readonly<Record<string, unknown>> = { Int: 'no number', String: {} };
const WRONG_TYPES = ['Nothing', 'Int', 'Query', 7, null];

/** What resolves later: one a turn, in an order that does not depend on the executor. */
const waiting: { readonly place: string; readonly at: number; begin(): void }[] = [];

/** Settles each place of an answer as one of the outcomes, by its path: both executors meet the same. */
class World {
  readonly #outcomes: readonly Outcome[];

  constructor(outcomes: readonly Outcome[]) {
    this.#outcomes = outcomes;
  }

  settle(type: GraphQLOutputType, place: string): unknown {
    return this.#when(place, (outcome) => {
      if (outcome.kind === 'error') throw new GraphQLError(`failed at ${place}`);
      if (outcome.kind === 'null') return null;
      return this.#valueOf(getNullableType(type), outcome, place);
    });
  }

  #when(place: string, settle: (outcome: Outcome, at: number) => unknown): unknown {
    const at = [...place].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 9973, 7);
    const outcome = this.#outcomes[at % this.#outcomes.length] as Outcome;
    if (outcome.when === 'now') return settle(outcome, at);
    if (outcome.when === 'soon') return Promise.resolve().then(() => settle(outcome, at));
    const { promise, resolve: begin } = Promise.withResolvers<void>();
    waiting.push({ place, at, begin });
    return promise.then(() => settle(outcome, at));
  }

  #valueOf(type: GraphQLOutputType, { kind, list, length }: Outcome, place: string): unknown {
    const isWrong = kind === 'wrong';
    if (isListType(type)) return isWrong ? 'no list' : this.#list(type.ofType, list, length, place);
    if (isLeafType(type)) return (isWrong ? WRONG_LEAVES : LEAF_VALUES)[type.name];
    return isWrong ? new Error('an error') : { place };
  }

  #list(type: GraphQLOutputType, kind: Outcome['list'], length: number, place: string): unknown {
    const itemAt = (index: number): unknown => {
      try {
        const item = this.settle(type, `${place}[${index}]`);
        // An executor that does not wait for the list any longer never sees its items.
        if (item instanceof Promise) item.catch(() => {});
        return item;
      } catch (error) {
        return error;
      }
    };
    const indices = Array.from({ length }, (_, index) => index);
    const generated = function* () {
      for (const index of indices) yield itemAt(index);
      if (kind === 'broken') throw new Error(`broken at ${place}`);
    };
    if (kind === 'array') return indices.map(itemAt);
    if (kind === 'set') return new Set(indices.map(itemAt));
    if (kind === 'generator') return generated();
    const items = generated();
    let asked = 0;
    const next = async () => {
      asked += 1;
      await this.#when(`${place} asked ${asked} times`, () => {});
      return items.next();
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }

  typeOf({ place }: { readonly place: string }): unknown {
    return this.#when(`type of ${place}`, ({ kind }, at) => {
      if (kind === 'error') throw new GraphQLError(`no type at ${place}`);
      return kind === 'wrong' ? WRONG_TYPES[at % WRONG_TYPES.length] : ['Thing', 'Other'][at % 2];
    });
  }

  isOther({ place }: { readonly place: string }): unknown {
    return this.#when(`is ${place} another`, ({ kind }) => {
      if (kind === 'error') throw new GraphQLError(`no other at ${place}`);
      return kind !== 'wrong';
    });
  }
}

const liveIn = (world: World): void => {
  for (const type of Object.values(schema.getTypeMap())) {
    if (isAbstractType(type)) type.resolveType = (value) => world.typeOf(value) as string;
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    if (type.name === 'Other') type.isTypeOf = (value) => world.isOther(value) as boolean;
    for (const field of Object.values(type.getFields()))
      field.resolve = (_source, args, _context, { path, returnType }) =>
        world.settle(returnType, JSON.stringify([pathOf(path), args]));
  }
};

type Path = { readonly prev: Path | undefined; readonly key: string | number };
const pathOf = ({ prev, key }: Path): readonly (string | number)[] => [...(prev ? pathOf(prev) : []), key];

const LEAVES = ['text', 'count', 'of', 'of(count: 3)', 'of(count: $n)', '__typename', 'then: text'];

const DIRECTIVES = ['@include(if: $on)', '@skip(if: $on)', ''];

type Text = 'thing' | 'named' | 'any' | 'other' | 'onThing' | 'onOther';

/** Selections of each type. A query has the fields of a thing. */
const { thing: selection, any: anySelection } = fc.letrec<Record<Text, string>>((tie) => {
  const selectionOf = (...fields: fc.Arbitrary<string>[]) =>
    fc
      .array(fc.oneof({ maxDepth: 3, withCrossShrink: true }, ...fields), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join(' '));
  const below = (names: readonly string[], type: Text) =>
    fc.tuple(fc.constantFrom(...names), tie(type)).map(([name, inner]) => `${name} { ${inner} }`);
  const on = (condition: string, type: Text) =>
    fc
      .tuple(fc.constantFrom(...DIRECTIVES), tie(type))
      .map(([directive, inner]) => `... ${condition} ${directive} { ${inner} }`);
  const ofNamed = [below(['things', 'then: things'], 'thing'), below(['named', 'names'], 'named')];
  return {
    thing: selectionOf(
      fc.constantFrom(...LEAVES, 'rows'),
      below(['thing', 'sure', 'then: thing', '__proto__: thing', 'some', 'grid'], 'thing'),
      on('', 'thing').map((inner) => `thing { ${inner} ...Part }`),
      below(['any', 'anies', 'then: anies'], 'any'),
      below(['other'], 'other'),
      ...ofNamed,
    ),
    other: selectionOf(fc.constantFrom('text', 'sum', '__typename'), below(['thing'], 'thing'), ...ofNamed),
    named: selectionOf(
      fc.constantFrom('text', '__typename', '...Part'),
      tie('onThing'),
      tie('onOther'),
      on('on Named', 'named'),
      ...ofNamed,
    ),
    any: selectionOf(
      fc.constantFrom('__typename', '...Part'),
      tie('onThing'),
      tie('onOther'),
      on('on Named', 'named'),
    ),
    onThing: on('on Thing', 'thing'),
    onOther: on('on Other', 'other'),
  };
});

const validated = (args: ExecutionArgs): ValidatedExecutionArgs => {
  const operation = validateExecutionArgs(args);
  if ('schema' in operation) return operation;
  throw new AggregateError(operation, 'Expected valid arguments.');
};

/** Of a wrong type, graphql-js has five messages, which no client sees. */
const sameMessage = (message: string): string =>
  /^(Abstract type|Runtime Object type|Expected the name of a type|Expected a? ?value of)/.test(message)
    ? 'the type is wrong'
    : message;

/** graphql-js handles no rejection of items of a list that still grows when the execution has ended. */
const ignoringRejections = async <Result>(run: () => Promise<Result>): Promise<Result> => {
  const event = 'unhandledRejection';
  const listeners = process.rawListeners(event) as NodeJS.UnhandledRejectionListener[];
  process.removeAllListeners(event).on(event, () => {});
  try {
    return await run();
  } finally {
    process.removeAllListeners(event);
    for (const listener of listeners) process.on(event, listener);
  }
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
  return JSON.stringify(await result, (key, value) => (key === 'message' ? sameMessage(value) : value));
};

const VARIABLES = '($on: Boolean = true, $n: Int! = 2)';

test('it makes the same data and errors as graphql-js', async () => {
  let [compared, failed] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        selection.map((fields) => `query ${VARIABLES} { ${fields} }`),
        selection.map((fields) => `subscription ${VARIABLES} { thing { ${fields} } }`),
        selection.map((fields) => `subscription ${VARIABLES} { sure { ${fields} } }`),
        anySelection.map((fields) => `subscription ${VARIABLES} { anies { ${fields} } }`),
      ),
      fc.array(outcome, { minLength: 3, maxLength: 12 }),
      fc.array(fc.constantFrom(true, false, null), { minLength: 2, maxLength: 3 }),
      async (operation, outcomes, values) => {
        const text = `${operation} fragment Part on Thing { text sure { count } }`;
        const document = parse(text);
        // A fragment or a variable may be unused, and fields of one name may differ.
        const problems = validate(schema, document).filter(({ message }) => !/never used/.test(message));
        fc.pre(problems.length === 0);
        liveIn(new World(outcomes));
        // The last time, its fields are known.
        for (const on of [...values, ...values.slice(0, 1)]) {
          const expected = await ignoringRejections(() => shown(executeAny, document, on));
          expect([text, on, await shown(executeFast, document, on)]).toEqual([text, on, expected]);
          failed += expected.startsWith('{"errors"') ? 1 : 0;
        }
        compared += 1;
      },
    ),
    { numRuns: runs(300, 60) },
  );
  expect(compared).toBeGreaterThan(10);
  expect(failed).toBeGreaterThan(0);
});

test.each([
  ['a mutation', 'mutation { set }'],
  ['types of objects by their member __typename', '{ named { name } }'],
  [
    'introspection',
    '{ __schema { queryType { name } types { name fields { name type { name ofType { name } } } } } }',
  ],
  [
    'an operation with more fields than are remembered',
    `{ ${Array.from({ length: 1200 }, (_, index) => `field${index}: named { name }`).join(' ')} }`,
  ],
])('it executes %s as graphql-js does', async (_, text) => {
  const other = buildSchema(`
    type Query { named: Named }
    type Mutation { set: Int }
    type Thing implements Named { text: String, name: String }
    interface Named { name: String }
  `);
  const rootValue = { set: 1, named: { __typename: 'Thing', name: 'b' } };
  const operation = validated({ schema: other, document: parse(text), rootValue });
  const result = await executeFast(operation);
  expect(result.errors).toBeUndefined();
  expect(JSON.stringify(result)).toBe(JSON.stringify(await executeAny(operation)));
});

test('an item that fails while its list waits for more makes the list null', async () => {
  const { promise: more, resolve: end } = Promise.withResolvers<void>();
  async function* sure() {
    yield { text: () => Promise.reject(new Error('no text')) };
    await more;
  }
  const lists = buildSchema('type Query { sure: [Thing!] } type Thing { text: String! }');
  const document = parse('{ sure { text } }');
  const result = executeFast(validated({ schema: lists, document, rootValue: { sure } }));
  await nextTurn();
  end();
  const path = ['sure', 0, 'text'];
  expect(await result).toMatchObject({ data: { sure: null }, errors: [{ message: 'no text', path }] });
});
