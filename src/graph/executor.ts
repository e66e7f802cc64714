import {
  type ExecutionResult,
  executeRootSelectionSet,
  type FieldNode,
  type GraphQLAbstractType,
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getArgumentValues,
  isObjectType,
  locatedError,
  OperationTypeNode,
  responsePathAsArray,
  type ValidatedExecutionArgs,
} from 'graphql';
import type { MaybePromise } from '../lib/tasks.ts';
import { type Below, type Field, type Output, Selection } from './selection.ts';

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
 * As `executeAny`, and sooner. Selections are collected once per document. graphql-js collects them each time, and ends each
 * execution with an abort, whose error with its stack takes longer than a small query. A mutation, whose fields are executed
 * in turn, is left to graphql-js.
 */
export const executeFast: Executor = (operation) =>
  operation.operation.operation === OperationTypeNode.MUTATION
    ? executeAny(operation)
    : new Execution(operation).run();

type Path = GraphQLResolveInfo['path'];

/** An object without the members of every object: a client may call a field `__proto__`. V8 makes it as fast as `{}`. */
class Data {
  [key: string]: unknown;
}
Object.setPrototypeOf(Data.prototype, null);

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';

/** A text can be iterated, but is no list. */
const isIterable = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.iterator in value;

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

/** What is pending belongs to no answer any longer: an unhandled rejection would end the process. */
const ignoreRejections = (values: Iterable<unknown>): void => {
  for (const value of values) if (isThenable(value)) value.then(undefined, () => {});
};

const noSignal = () => undefined;
const asyncHelpers: ReturnType<GraphQLResolveInfo['getAsyncHelpers']> = {
  promiseAll: (values) => Promise.all(values),
  track: ignoreRejections,
};
const getAsyncHelpers = () => asyncHelpers;

const nameOf = ({ parentType, fieldName }: GraphQLResolveInfo): string => `${parentType}.${fieldName}`;

/** One execution. Its results and its errors are those of graphql-js. */
class Execution {
  readonly #args: ValidatedExecutionArgs;
  readonly #selection: Selection;
  readonly #errors: GraphQLError[] = [];
  /** The paths of fields and items that have become null by an error; undefined is that of the whole answer. */
  readonly #failed = new Set<Path | undefined>();
  #hasEnded = false;

  constructor(args: ValidatedExecutionArgs) {
    this.#args = args;
    this.#selection = new Selection(args);
  }

  run(): MaybePromise<ExecutionResult> {
    const { schema, operation, rootValue } = this.#args;
    try {
      const type = schema.getRootType(operation.operation);
      if (!type) throw new Error(`Expected a schema with the type of a ${operation.operation}, got another.`);
      const data = this.#object(type, this.#selection.operation, rootValue, undefined);
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

  #object(
    type: GraphQLObjectType,
    below: Below,
    source: unknown,
    path: Path | undefined,
  ): MaybePromise<Data> {
    const data = new Data();
    const pending: Promise<unknown>[] = [];
    const keys: string[] = [];
    try {
      for (const field of this.#selection.fieldsOf(type, below)) {
        const value = this.#field(field, source, path);
        data[field.key] = value;
        if (!(value instanceof Promise)) continue;
        pending.push(value);
        keys.push(field.key);
      }
    } catch (error) {
      ignoreRejections(pending);
      throw error;
    }
    if (pending.length === 0) return data;
    return Promise.all(pending).then((resolved) => {
      for (const [index, key] of keys.entries()) data[key] = resolved[index];
      return data;
    });
  }

  #field(field: Field, source: unknown, parentPath: Path | undefined): unknown {
    const { key, parentType, definition, nodes, output } = field;
    const { variableValues, fieldResolver, contextValue, hideSuggestions } = this.#args;
    const info = this.#infoOf(field, { prev: parentPath, key, typename: parentType.name });
    try {
      const [node] = nodes as [FieldNode];
      const args = getArgumentValues(definition, node, variableValues, undefined, hideSuggestions);
      const resolve = definition.resolve ?? fieldResolver;
      return this.#settle(output, resolve(source, args, contextValue, info), info.path, info);
    } catch (error) {
      return this.#fail(error, output, info.path, info);
    }
  }

  /** Completes the value of a field, or of an item of its list, which `path` then tells from `info`. */
  #settle(output: Output, value: unknown, path: Path, info: GraphQLResolveInfo): unknown {
    try {
      if (isThenable(value)) return this.#settleLater(output, value, path, info);
      const completed = this.#complete(output, value, path, info);
      if (!(completed instanceof Promise)) return completed;
      return completed.then(undefined, (error: unknown) => this.#fail(error, output, path, info));
    } catch (error) {
      return this.#fail(error, output, path, info);
    }
  }

  async #settleLater(
    output: Output,
    pending: PromiseLike<unknown>,
    path: Path,
    info: GraphQLResolveInfo,
  ): Promise<unknown> {
    try {
      const value = await pending;
      this.#assertRunning();
      const completed = this.#complete(output, value, path, info);
      return completed instanceof Promise ? await completed : completed;
    } catch (error) {
      return this.#fail(error, output, path, info);
    }
  }

  #complete(output: Output, value: unknown, path: Path, info: GraphQLResolveInfo): unknown {
    if (value instanceof Error) throw value;
    if (value === null || value === undefined) {
      if (!output.isNonNull) return null;
      throw new Error(`Cannot return null for non-nullable field ${nameOf(info)}.`);
    }
    switch (output.kind) {
      case 'leaf': {
        const coerced = output.type.coerceOutputValue(value);
        if (coerced !== null && coerced !== undefined) return coerced;
        throw new Error(`Expected ${output.type} to write the value of ${nameOf(info)}, got nothing.`);
      }
      case 'list':
        return this.#list(output.items, value, path, info);
      case 'object':
        return this.#objectOf(output.type, output.below, value, path, info);
      case 'abstract': {
        const { type, below } = output;
        const { typeResolver, contextValue } = this.#args;
        const name = (type.resolveType ?? typeResolver)(value, contextValue, info, type);
        return this.#whenKnown(name, (known) =>
          this.#objectOf(this.#typeNamed(known, type), below, value, path, info),
        );
      }
    }
  }

  #list(output: Output, value: unknown, path: Path, info: GraphQLResolveInfo): unknown {
    if (isAsyncIterable(value)) return this.#listLater(output, value, path, info);
    if (!isIterable(value))
      throw new GraphQLError(`Expected Iterable, but did not find one for field "${nameOf(info)}".`);
    const items: readonly unknown[] = Array.isArray(value) ? value : [...value];
    const data: unknown[] = [];
    let isPending = false;
    try {
      for (const each of items) {
        const item = this.#item(data.length, output, each, path, info);
        isPending ||= item instanceof Promise;
        data.push(item);
      }
    } catch (error) {
      ignoreRejections(data);
      ignoreRejections(items);
      throw error;
    }
    return isPending ? Promise.all(data) : data;
  }

  async #listLater(
    output: Output,
    items: AsyncIterable<unknown>,
    path: Path,
    info: GraphQLResolveInfo,
  ): Promise<unknown> {
    const data: unknown[] = [];
    for await (const value of items) {
      this.#assertRunning();
      const item = this.#item(data.length, output, value, path, info);
      // It may be rejected before the list is over.
      if (item instanceof Promise) item.catch(() => {});
      data.push(item);
    }
    return data.some((item) => item instanceof Promise) ? Promise.all(data) : data;
  }

  #item(key: number, output: Output, value: unknown, prev: Path, info: GraphQLResolveInfo): unknown {
    return this.#settle(output, value, { prev, key, typename: undefined }, info);
  }

  #objectOf(
    type: GraphQLObjectType,
    below: Below,
    value: unknown,
    path: Path,
    info: GraphQLResolveInfo,
  ): MaybePromise<Data> {
    if (!type.isTypeOf) return this.#object(type, below, value, path);
    return this.#whenKnown(type.isTypeOf(value, this.#args.contextValue, info), (isOfType) => {
      if (isOfType) return this.#object(type, below, value, path);
      throw new Error(`Expected a value of ${type}, got another.`);
    });
  }

  #typeNamed(name: unknown, abstract: GraphQLAbstractType): GraphQLObjectType {
    const { schema } = this.#args;
    const type = typeof name === 'string' ? schema.getType(name) : undefined;
    if (isObjectType(type) && schema.isSubType(abstract, type)) return type;
    throw new Error(`Expected the name of a type of ${abstract}, got ${name}.`);
  }

  #whenKnown<Known>(
    known: PromiseLike<Known> | Known,
    complete: (known: Known) => MaybePromise<Data>,
  ): MaybePromise<Data> {
    if (!isThenable(known)) return complete(known);
    return Promise.resolve(known).then((resolved) => {
      this.#assertRunning();
      return complete(resolved);
    });
  }

  #assertRunning(): void {
    if (this.#hasEnded) throw new Error('The answer does not wait for this field.');
  }

  /** Returns null for a field or an item that may be null. Throws the error for its parent otherwise. */
  #fail(thrown: unknown, { isNonNull }: Output, path: Path, { fieldNodes }: GraphQLResolveInfo): null {
    const error = locatedError(thrown, fieldNodes, responsePathAsArray(path));
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
