import {
  type ExecutionResult,
  executeRootSelectionSet,
  type FieldNode,
  type GraphQLError,
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getArgumentValues,
  getNullableType,
  isLeafType,
  isNonNullType,
  isObjectType,
  Kind,
  locatedError,
  type OperationDefinitionNode,
  OperationTypeNode,
  responsePathAsArray,
  type ValidatedExecutionArgs,
  visit,
} from 'graphql';
import { rememberEach } from '../lib/memo.ts';
import type { MaybePromise } from '../lib/tasks.ts';
import { collectFields, type SelectionInfo } from './cost/operation-info.ts';

/** Executes a query, a mutation, or an event of a subscription, of a valid document without `@defer` and `@stream`. */
export type Executor = (operation: ValidatedExecutionArgs) => MaybePromise<ExecutionResult>;

/**
 * The executor of graphql-js awaits only what has a method `then`. Yoga's awaits whatever has a member of that name: JSON of
 * the service, and an object of which a client calls a field `then`. No document that it gets has a directive that would
 * make it return results in increments.
 */
export const executeAny: Executor = (operation) => {
  const result = executeRootSelectionSet(operation);
  return result instanceof Promise ? result.then((ended) => releaseContext(operation, ended)) : result;
};

/**
 * V8 allocates functions in old space whose expression is assigned to a property, and so keeps what they refer to until it
 * collects its whole heap. One of graphql-js refers to the operation: without its context, little is kept.
 */
const releaseContext = (operation: { contextValue?: unknown }, result: ExecutionResult): ExecutionResult => {
  operation.contextValue = undefined;
  return result;
};

/**
 * As `executeAny`, and sooner for queries and events whose fields are objects and leaves, such as queries whose lists are
 * written by plans. Their selections are collected once per document. graphql-js collects them each time, and ends each
 * execution with an abort, whose error with its stack takes longer than such a query.
 */
export const executeFast: Executor = (operation) => {
  const fields = fieldsOf(operation);
  return fields === null ? executeAny(operation) : new Execution(operation).run(fields);
};

/** A field of an object, with all its uses. */
type Field = {
  readonly key: string;
  readonly parentType: GraphQLObjectType;
  readonly definition: GraphQLField<unknown, unknown>;
  readonly nodes: readonly FieldNode[];
  readonly isNonNull: boolean;
  /** Its type, or the fields of the object that it returns. */
  readonly returns: GraphQLLeafType | readonly Field[];
};

/** What is known of an operation: its fields by what `@skip` and `@include` say. */
type KnownOperation = {
  /** The variables that decide. */
  readonly conditions: readonly string[];
  /** Null for those that are left to graphql-js. */
  readonly byConditions: Map<string, readonly Field[] | null>;
};

/** A document with more fields is left to graphql-js, as its fields may be many more than its fragments. */
const MAX_FIELDS = 1000;
const MAX_COMBINATIONS = 16;

const knownOperations = rememberEach(
  (_: GraphQLSchema) => new WeakMap<OperationDefinitionNode, KnownOperation>(),
);

const fieldsOf = (args: ValidatedExecutionArgs): readonly Field[] | null => {
  const { schema, operation, variableValues } = args;
  const operations = knownOperations(schema);
  const known = operations.get(operation) ?? { conditions: conditionsIn(args), byConditions: new Map() };
  operations.set(operation, known);
  const key = known.conditions.map((name) => String(variableValues.coerced[name])).join();
  const found = known.byConditions.get(key);
  if (found !== undefined) return found;
  if (known.byConditions.size === MAX_COMBINATIONS) return null;
  const fields = compile(args);
  known.byConditions.set(key, fields);
  return fields;
};

const conditionsIn = ({ document }: ValidatedExecutionArgs): readonly string[] => {
  const names = new Set<string>();
  visit(document, {
    Directive: ({ arguments: args = [] }) => {
      for (const { value } of args) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  });
  return [...names];
};

/** Returns null for an operation that is left to graphql-js. */
const compile = (args: ValidatedExecutionArgs): readonly Field[] | null => {
  const { schema, operation, variableValues, fragmentDefinitions } = args;
  const type = schema.getRootType(operation.operation);
  const isPlain = operation.operation !== OperationTypeNode.MUTATION && !operation.directives?.length;
  if (!isPlain || !type) return null;
  const fragments = new Map(Object.entries(fragmentDefinitions));
  const compiler = new Compiler({ schema, variableValues, fragments });
  try {
    return compiler.fields(type, [operation]);
  } catch {
    // A directive whose variable is null has an error of its own.
    return null;
  }
};

class Compiler {
  readonly #info: SelectionInfo;
  #count = 0;

  constructor(info: SelectionInfo) {
    this.#info = info;
  }

  fields(
    parentType: GraphQLObjectType,
    parents: readonly (FieldNode | OperationDefinitionNode)[],
  ): readonly Field[] | null {
    const sets = parents.flatMap(({ selectionSet }) => selectionSet ?? []);
    const fields: Field[] = [];
    for (const [key, nodes] of collectFields(this.#info, parentType, sets)) {
      const definition = this.#info.schema.getField(parentType, nodes[0]?.name.value ?? '');
      this.#count += 1;
      if (!definition || this.#count > MAX_FIELDS) return null;
      const type = getNullableType(definition.type);
      const returns = isLeafType(type) ? type : isObjectType(type) ? this.fields(type, nodes) : null;
      if (returns === null || (isObjectType(type) && type.isTypeOf)) return null;
      fields.push({ key, parentType, definition, nodes, isNonNull: isNonNullType(definition.type), returns });
    }
    return fields;
  }
}

type Path = GraphQLResolveInfo['path'];

/** An object without the members of every object: a client may call a field `__proto__`. V8 makes it as fast as `{}`. */
class Data {
  [key: string]: unknown;
}
Object.setPrototypeOf(Data.prototype, null);

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';

const noSignal = () => undefined;
const asyncHelpers: ReturnType<GraphQLResolveInfo['getAsyncHelpers']> = {
  promiseAll: (values) => Promise.all(values),
  track() {},
};
const getAsyncHelpers = () => asyncHelpers;

/** One execution. Its results and its errors are those of graphql-js. */
class Execution {
  readonly #args: ValidatedExecutionArgs;
  readonly #errors: GraphQLError[] = [];
  /** The paths of fields that have become null by an error; undefined is that of the whole answer. */
  readonly #failed = new Set<Path | undefined>();
  #hasEnded = false;

  constructor(args: ValidatedExecutionArgs) {
    this.#args = args;
  }

  run(fields: readonly Field[]): MaybePromise<ExecutionResult> {
    try {
      const data = this.#object(fields, this.#args.rootValue, undefined);
      if (!(data instanceof Promise)) return this.#end(data);
      return data.then(
        (resolved) => this.#end(resolved),
        (error: unknown) => this.#endWithout(error),
      );
    } catch (error) {
      return this.#endWithout(error);
    }
  }

  #end(data: Data | null): ExecutionResult {
    this.#hasEnded = true;
    return this.#errors.length > 0 ? { errors: this.#errors, data } : { data };
  }

  /** An error of a field that may not be null has reached the top. */
  #endWithout(error: unknown): ExecutionResult {
    this.#addError(error as GraphQLError, undefined);
    return this.#end(null);
  }

  #object(fields: readonly Field[], source: unknown, path: Path | undefined): MaybePromise<Data> {
    const data = new Data();
    const pending: Promise<void>[] = [];
    try {
      for (const field of fields) {
        const value = this.#field(field, source, path);
        data[field.key] = value;
        if (value instanceof Promise)
          pending.push(
            value.then((resolved) => {
              data[field.key] = resolved;
            }),
          );
      }
    } catch (error) {
      // What is pending belongs to no answer any longer: an unhandled rejection would end the process.
      for (const each of pending) each.catch(() => {});
      throw error;
    }
    const [first, ...others] = pending;
    if (first === undefined) return data;
    return others.length === 0 ? first.then(() => data) : Promise.all(pending).then(() => data);
  }

  #field(field: Field, source: unknown, parentPath: Path | undefined): unknown {
    const { key, parentType, definition, nodes } = field;
    const { variableValues, fieldResolver, contextValue, hideSuggestions } = this.#args;
    const path = { prev: parentPath, key, typename: parentType.name };
    try {
      const [node] = nodes as [FieldNode];
      const args = getArgumentValues(definition, node, variableValues, undefined, hideSuggestions);
      const resolve = definition.resolve ?? fieldResolver;
      const resolved = resolve(source, args, contextValue, this.#infoOf(field, path));
      if (isThenable(resolved)) return this.#whenResolved(field, resolved, path);
      const value = this.#complete(field, resolved, path);
      if (!(value instanceof Promise)) return value;
      return value.then(undefined, (error: unknown) => this.#fail(error, field, path));
    } catch (error) {
      return this.#fail(error, field, path);
    }
  }

  async #whenResolved(field: Field, resolved: PromiseLike<unknown>, path: Path): Promise<unknown> {
    try {
      const value = await resolved;
      if (this.#hasEnded) throw new Error('The answer does not wait for this field.');
      const completed = this.#complete(field, value, path);
      return completed instanceof Promise ? await completed : completed;
    } catch (error) {
      return this.#fail(error, field, path);
    }
  }

  #complete({ definition, parentType, isNonNull, returns }: Field, value: unknown, path: Path): unknown {
    if (value instanceof Error) throw value;
    if (value === null || value === undefined) {
      if (!isNonNull) return null;
      throw new Error(`Cannot return null for non-nullable field ${parentType}.${definition.name}.`);
    }
    if (!('coerceOutputValue' in returns)) return this.#object(returns, value, path);
    const coerced = returns.coerceOutputValue(value);
    if (coerced !== null && coerced !== undefined) return coerced;
    throw new Error(
      `Expected ${returns} to write the value of ${parentType}.${definition.name}, got nothing.`,
    );
  }

  /** Returns null for a field that may be null. Throws the error for the field's parent otherwise. */
  #fail(thrown: unknown, { nodes, isNonNull }: Field, path: Path): null {
    const error = locatedError(thrown, nodes, responsePathAsArray(path));
    if (isNonNull) throw error;
    this.#addError(error, path);
    return null;
  }

  /** Drops the error of a field that is no longer in the answer. */
  #addError(error: GraphQLError, path: Path | undefined): void {
    if (this.#failed.has(undefined)) return;
    for (let each = path; each !== undefined; each = each.prev) if (this.#failed.has(each)) return;
    this.#failed.add(path);
    this.#errors.push(error);
  }

  #infoOf({ parentType, definition, nodes }: Field, path: Path): GraphQLResolveInfo {
    const { schema, fragmentDefinitions, rootValue, operation, variableValues } = this.#args;
    return {
      fieldName: definition.name,
      fieldNodes: nodes,
      returnType: definition.type,
      parentType,
      path,
      schema,
      fragments: fragmentDefinitions,
      rootValue,
      operation,
      variableValues,
      getAbortSignal: noSignal,
      getAsyncHelpers,
    };
  }
}
