import {
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLResolveInfo,
  GraphQLScalarType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import type { Context } from '../../context.ts';
import type { EdgeField, ListPlan, Plan, PlanField } from '../../upstream/parse/record.ts';
import type { SelectionInfo, VariableValues } from '../cost/operation-info.ts';
import { compileEdges, compileNodes, type PlannedField, plannedFields } from './compile.ts';
import { type Fragments, fragmentsIn, inspectDocument, type PlannedDocument } from './inspect-document.ts';
import {
  type AnyPlannedList,
  ListWriting,
  type PlannedList,
  writeInParts,
  writeList,
} from './list-writer.ts';
import { createProjection } from './projection.ts';

/**
 * A schema whose lists of lookups are leaves: the executor resolves all the rest of an operation, and plans write these
 * lists. Documents are validated, and their costs are estimated, against the public schema.
 */
export type PlannedSchema = {
  /** Executes the documents for which `canExecute` is true, unchanged, if their answers come in one part. */
  readonly schema: GraphQLSchema;
  /** The same for answers in parts: lists are lists of leaves, each of which is one item or several. */
  readonly schemaOfParts: GraphQLSchema;
  /**
   * Whether plans can write all lists of a document, and it has any. With `mergesUses` they must be written as a whole: the
   * executor resolves a list once, also where one of its uses is deferred.
   */
  canExecute(document: DocumentNode, mergesUses?: boolean): boolean;
  /** Whether it can execute a document whose operations read nothing but pages of lookups, for an answer in one part. */
  readsPagesAlone(document: DocumentNode): boolean;
};

/** The executor does not look at the selections below a leaf. */
const writtenBy = (name: string, description: string) =>
  new GraphQLScalarType<unknown, unknown>({ name, description, serialize: (written) => written });

const WrittenList = writtenBy('WrittenList', 'A list that a plan has written as JSON.');
const WrittenItems = writtenBy('WrittenItems', 'Items of a list that a plan has written as JSON.');

/**
 * Changes `schema`, which must have the types of `publicSchema` as objects of its own. Throws TypeError where an item of a
 * lookup has a field that no plan can write.
 */
export const createPlannedSchema = (schema: GraphQLSchema, publicSchema: GraphQLSchema): PlannedSchema => {
  const publicFields = plannedFields(publicSchema);
  const documents = new WeakMap<DocumentNode, PlannedDocument | null>();
  const operations = new WeakMap<OperationDefinitionNode, DocumentPlans<ListWriting>>();

  const inspect = (document: DocumentNode): PlannedDocument | null => {
    const known = documents.get(document);
    if (known !== undefined) return known;
    const planned = inspectDocument(publicSchema, publicFields, document);
    documents.set(document, planned);
    if (planned === null) return null;
    const plans = new DocumentPlans<ListWriting>(schema, document, planned.conditions);
    for (const node of document.definitions)
      if (node.kind === Kind.OPERATION_DEFINITION) operations.set(node, plans);
    return planned;
  };

  const writingFor = (field: PlannedField, info: GraphQLResolveInfo): ListWriting => {
    const plans = operations.get(info.operation);
    if (plans === undefined) throw new TypeError('Expected an operation whose lists plans can write.');
    const compile = field.kind === 'nodes' ? compileNodes : compileEdges;
    const { fieldNodes, variableValues } = info;
    return plans.find(
      fieldNodes,
      variableValues,
      (selection) => compile(selection, field.item, fieldNodes),
      (plan: ListPlan) => new ListWriting(plan, createProjection(plan)),
    );
  };

  const fieldsOfParts = new Map<GraphQLField<unknown, unknown>, GraphQLField<unknown, unknown>>();
  for (const [field, planned] of plannedFields(schema)) {
    const ofParts: Pick<typeof field, 'type' | 'resolve'> = {
      type: new GraphQLNonNull(new GraphQLList(WrittenItems)),
      resolve(list, _args, context, info) {
        return writeInParts(list as AnyPlannedList, writingFor(planned, info), context as Context, info);
      },
    };
    fieldsOfParts.set(field, Object.assign<typeof field, object>(Object.create(field), ofParts));
    field.type = new GraphQLNonNull(WrittenList);
    field.resolve = (list, _args, context, info) =>
      writeList(list as PlannedList, writingFor(planned, info), context as Context, info);
  }
  return {
    schema,
    schemaOfParts: withFields(schema, fieldsOfParts),
    canExecute(document, mergesUses = false) {
      const planned = inspect(document);
      return planned !== null && !(mergesUses && planned.mayDeferUses);
    },
    readsPagesAlone: (document) => inspect(document)?.readsPagesAlone === true,
  };
};

/** Returns the same schema for the executor, which finds fields by `getField` alone, with other fields in place of some. */
const withFields = (
  schema: GraphQLSchema,
  fields: ReadonlyMap<GraphQLField<unknown, unknown>, GraphQLField<unknown, unknown>>,
): GraphQLSchema =>
  Object.assign<GraphQLSchema, Pick<GraphQLSchema, 'getField'>>(Object.create(schema), {
    getField(type, name) {
      const field = schema.getField(type, name);
      return (field && fields.get(field)) ?? field;
    },
  });

/** The most fields that the compiled plans of one document have together. A plan of a larger one is kept alone. */
const MAX_FIELDS = 1000;

/** A plan, compiled to a function or whatever else it is used as. */
type Compiled<Use> = { readonly use: Use; readonly fields: number };

/** The plans of one document, compiled once for each combination of what `@skip` and `@include` say. */
export class DocumentPlans<Use> {
  readonly #schema: GraphQLSchema;
  readonly #fragments: Fragments;
  readonly #conditions: readonly string[];
  readonly #fieldNumbers = new Map<FieldNode, number>();
  /** Oldest first. */
  readonly #compiled = new Map<string, Compiled<Use>>();
  #fields = 0;

  /** `conditions` are the variables that decide `@skip` and `@include`. */
  constructor(schema: GraphQLSchema, document: DocumentNode, conditions: readonly string[]) {
    this.#schema = schema;
    this.#fragments = fragmentsIn(document);
    this.#conditions = conditions;
  }

  /** Returns the plan for these uses of a list's field under these variables, compiled now if it is not kept. */
  find(
    uses: readonly FieldNode[],
    variableValues: VariableValues,
    compile: (info: SelectionInfo) => ListPlan,
    useOf: (plan: ListPlan) => Use,
  ): Use {
    const key = this.#keyOf(uses, variableValues);
    const known = this.#compiled.get(key);
    if (known) return known.use;
    const plan = compile({ schema: this.#schema, fragments: this.#fragments, variableValues });
    const use = useOf(plan);
    this.#keep(key, { use, fields: fieldsOf(plan) });
    return use;
  }

  #keyOf(uses: readonly FieldNode[], { coerced }: VariableValues): string {
    const fields = uses.map((node) => this.#numberOf(node)).join();
    return `${fields} ${this.#conditions.map((name) => (coerced[name] === true ? 1 : 0)).join('')}`;
  }

  #numberOf(node: FieldNode): number {
    const known = this.#fieldNumbers.get(node);
    if (known !== undefined) return known;
    this.#fieldNumbers.set(node, this.#fieldNumbers.size);
    return this.#fieldNumbers.size - 1;
  }

  #keep(key: string, compiled: Compiled<Use>): void {
    this.#fields += compiled.fields;
    for (const [oldest, { fields }] of this.#compiled) {
      if (this.#fields <= MAX_FIELDS) break;
      this.#compiled.delete(oldest);
      this.#fields -= fields;
    }
    this.#compiled.set(key, compiled);
  }
}

/** Returns the number of fields that a plan has at all levels. */
const fieldsOf = (plan: ListPlan | Plan): number => {
  if ('kind' in plan && plan.kind === 'nodes') return fieldsOf(plan.node);
  const fields: readonly (PlanField | EdgeField)[] = plan.fields;
  return fields.reduce(
    (sum, field) => sum + 1 + ('plan' in field && field.plan ? fieldsOf(field.plan) : 0),
    0,
  );
};
