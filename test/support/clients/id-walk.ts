import {
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import { schema } from '../../../src/schema.ts';
import type { GraphQLReply } from '../gateway/start.ts';

/** Walks all paths of the schema to the types with an id, as one normalised cache would see their objects. */

/** The arguments of a use of a field, by its coordinate. Fields without an entry are used with their default arguments. */
export type Arguments = Readonly<Record<string, string>>;

type Step = { readonly text: string; readonly isObject: boolean };

/** A way from a root to objects of a type with an id. */
export type Path = {
  readonly name: string;
  readonly type: GraphQLObjectType;
  readonly document: string;
};

const hasId = (type: GraphQLObjectType): boolean => 'id' in type.getFields();

const isConnection = (type: GraphQLObjectType): boolean => 'pageInfo' in type.getFields();

type AnyField = GraphQLField<unknown, unknown>;

const fieldsOf = (type: GraphQLObjectType): readonly AnyField[] => Object.values(type.getFields());

/** The text that selects a field. */
const useOf = (type: GraphQLObjectType, field: AnyField, args: Arguments): string => {
  const coordinate = `${type.name}.${field.name}`;
  const given = args[coordinate];
  if (given !== undefined) return `${field.name}(${given})`;
  if (field.args.some(isRequiredArgument))
    throw new Error(`Expected arguments for ${coordinate}: add them to those of the walk.`);
  return field.name;
};

/** When something was read, and how far an index was then, is no value of what was read. */
const TIMES = new Set(['Portfolio.asOf', 'Chain.index']);

/** What the document selects of an object: all of its own, and of what it names the id. */
export const wholeSelection = (type: GraphQLObjectType, args: Arguments, depth = 0): string => {
  const fields = fieldsOf(type).flatMap((field) => {
    if (TIMES.has(`${type.name}.${field.name}`)) return [];
    const use = useOf(type, field, args);
    const named = getNamedType(field.type);
    if (isLeafType(named)) return [use];
    if (!isObjectType(named) || isConnection(named) || depth > 6) return [];
    return [`${use} { ${hasId(named) ? '__typename id' : wholeSelection(named, args, depth + 1)} }`];
  });
  return ['__typename', ...fields].join(' ');
};

const possibleOf = (type: ReturnType<typeof getNamedType>): readonly GraphQLObjectType[] =>
  isObjectType(type) ? [type] : isAbstractType(type) ? schema.getPossibleTypes(type) : [];

/** All paths from a root type. `skipped` are coordinates that are not followed. */
export const pathsFrom = (
  operation: 'query' | 'subscription',
  args: Arguments,
  skipped: ReadonlySet<string>,
): readonly Path[] => {
  const paths: Path[] = [];
  const root =
    (operation === 'query' ? schema.getQueryType() : schema.getSubscriptionType()) ?? unknownRoot();
  const ofRoot = new Set(
    fieldsOf(schema.getQueryType() ?? unknownRoot()).map(({ type }) => getNamedType(type)),
  );
  const follow = (
    target: GraphQLObjectType,
    use: string,
    fragment: string | null,
    steps: readonly Step[],
    on: readonly GraphQLObjectType[],
  ): void => {
    const isObject = hasId(target);
    // Under another name, so that what the path selects of it is not taken for the whole value.
    const own = { text: `way: ${use}`, isObject: isObject && fragment === null };
    const next = [...steps, own, ...(fragment === null ? [] : [{ text: fragment, isObject }])];
    if (isObject) paths.push(pathOf(operation, target, next, args));
    // What a root field gives is walked from there.
    const isOfRoot = steps.length > 0 && isObject && ofRoot.has(target);
    if (!on.includes(target) && !isOfRoot) visit(target, next, [...on, target]);
  };
  const visit = (type: GraphQLObjectType, steps: readonly Step[], on: readonly GraphQLObjectType[]): void => {
    for (const field of fieldsOf(type)) {
      const named = getNamedType(field.type);
      if (skipped.has(`${type.name}.${field.name}`) || isLeafType(named)) continue;
      const use = useOf(type, field, args);
      for (const target of possibleOf(named))
        follow(target, use, isAbstractType(named) ? `... on ${target.name}` : null, steps, on);
    }
  };
  visit(root, [], []);
  return paths;
};

const unknownRoot = (): never => {
  throw new TypeError('Expected a root type.');
};

const pathOf = (
  operation: string,
  type: GraphQLObjectType,
  steps: readonly Step[],
  args: Arguments,
): Path => {
  const open = steps
    .map(({ text, isObject }, at) => `${text} {${isObject && at + 1 < steps.length ? ' __typename id' : ''}`)
    .join(' ');
  return {
    name: steps.map(({ text }) => text.replace(/^way: |\(.*\)$/g, '')).join('.'),
    type,
    document: `${operation} { ${open} ${wholeSelection(type, args)} ${'}'.repeat(steps.length)} }`,
  };
};

type Seen = { readonly path: string; readonly value: string };

/** The objects of answers, as a normalised cache keeps them, with where each value came from. */
export class Records {
  /** By the type and the id of the object, then by its field. */
  readonly #objects = new Map<string, Map<string, Seen[]>>();

  /** Adds an answer. In one that has an object again, as a feed has, the last one counts. */
  add(path: string, answer: unknown): void {
    const own = new Map<string, Map<string, string>>();
    collect(answer, own);
    for (const [object, fields] of own)
      for (const [field, value] of fields) {
        const known = this.#objects.get(object) ?? new Map<string, Seen[]>();
        this.#objects.set(object, known);
        known.set(field, [...(known.get(field) ?? []), { path, value }]);
      }
  }

  get size(): number {
    return this.#objects.size;
  }

  /** The ids of the objects of a type. */
  idsOf(typename: string): readonly string[] {
    return [...this.#objects.keys()].flatMap((name) =>
      name.startsWith(`${typename} `) ? [name.slice(typename.length + 1)] : [],
    );
  }

  /** The paths by which objects of a type came. */
  pathsTo(typename: string): ReadonlySet<string> {
    const seen = [...this.#objects].flatMap(([name, fields]) =>
      name.startsWith(`${typename} `) ? [...fields.values()].flat() : [],
    );
    return new Set(seen.map(({ path }) => path));
  }

  /** Each field of a type of which one object has different values, with one example. */
  differences(): Readonly<Record<string, readonly string[]>> {
    const found: Record<string, readonly string[]> = {};
    for (const [object, fields] of this.#objects)
      for (const [field, seen] of fields) {
        const coordinate = `${object.slice(0, object.indexOf(' '))}.${field}`;
        const distinct = new Map(seen.map(({ value, path }) => [value, path]));
        if (distinct.size > 1)
          found[coordinate] ??= [...distinct].map(([value, path]) => `${path}: ${value.slice(0, 200)}`);
      }
    return found;
  }
}

type Json = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Notes all objects with an id, and returns the value with their ids in their place. */
const collect = (value: unknown, objects: Map<string, Map<string, string>>): unknown => {
  if (Array.isArray(value)) return value.map((item) => collect(item, objects));
  if (!isRecord(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [name, collect(member, objects)] as const);
  const { __typename: type, id } = value;
  if (typeof id !== 'string' || typeof type !== 'string') return Object.fromEntries(members);
  const fields = objects.get(`${type} ${id}`) ?? new Map<string, string>();
  objects.set(`${type} ${id}`, fields);
  for (const [name, member] of members)
    if (name !== '__typename' && !isList(type, name)) fields.set(name, JSON.stringify(member));
  return { __typename: type, id };
};

/** A list of another length is no other value, and what is selected under another name is no field. */
const isList = (typename: string, name: string): boolean => {
  const type = schema.getType(typename);
  const field = isObjectType(type) ? type.getFields()[name] : undefined;
  const named = field && getNamedType(field.type);
  return named === undefined || (isObjectType(named) && isConnection(named));
};

/** Takes a null out of an answer that came with an error: it is no value. */
const leaveOut = (data: unknown, path: readonly (string | number)[]): void => {
  const parent = path.slice(0, -1).reduce<unknown>((of, name) => (of as Json | null)?.[name], data);
  if (isRecord(parent)) Reflect.deleteProperty(parent, String(path.at(-1)));
};

/** Runs the documents of paths one after another, and keeps what they show. Returns their errors, each with its path. */
export const walk = async (
  paths: readonly Path[],
  records: Records,
  query: (document: string) => Promise<GraphQLReply>,
): Promise<readonly string[]> => {
  const errors: string[] = [];
  for (const { name, document } of paths) {
    const { data, errors: faults = [] } = await query(document);
    for (const { message, path = [] } of faults) {
      errors.push(`${name} at ${path.join('.')}: ${message}`);
      leaveOut(data, path);
    }
    records.add(name, data);
  }
  return errors;
};
