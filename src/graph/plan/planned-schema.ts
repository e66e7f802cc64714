import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  GraphQLNonNull,
  type GraphQLResolveInfo,
  GraphQLScalarType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  TypeInfo,
  TypeNameMetaFieldDef,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Context } from '../../context.ts';
import type { EdgeField, ListPlan, Plan, PlanField } from '../../upstream/parse/record.ts';
import type { SelectionInfo, VariableValues } from '../cost/operation-info.ts';
import { compileEdges, compileNodes, type PlannedField, plannedFields } from './compile.ts';
import { createProjection, ListWriting, type PlannedList, writeList } from './list-writer.ts';

/**
 * A schema whose lists of lookups are leaves: the executor resolves all the rest of an operation, and plans write these
 * lists. Documents are validated, and their costs are estimated, against the public schema.
 */
export type PlannedSchema = {
  /** Executes the documents for which `canExecute` is true, unchanged. */
  readonly schema: GraphQLSchema;
  /** Whether plans can write all lists of a document, and it has any. */
  canExecute(document: DocumentNode): boolean;
  /** Whether it can execute a document whose operations read nothing but pages of lookups. */
  readsPagesAlone(document: DocumentNode): boolean;
};

/** The executor does not look at the selections below a leaf. */
const WrittenList = new GraphQLScalarType<unknown, unknown>({
  name: 'WrittenList',
  description: 'A list that a plan has written as JSON.',
  serialize: (written) => written,
});

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

  for (const [field, planned] of plannedFields(schema)) {
    field.type = new GraphQLNonNull(WrittenList);
    field.resolve = (list, _args, context, info) =>
      writeList(list as PlannedList, writingFor(planned, info), context as Context, info);
  }
  return {
    schema,
    canExecute: (document) => inspect(document) !== null,
    readsPagesAlone: (document) => inspect(document)?.readsPagesAlone === true,
  };
};

/** A document whose lists plans can write. */
type PlannedDocument = {
  /** The variables that decide `@skip` and `@include`. */
  readonly conditions: readonly string[];
  /** Whether its operations read nothing but pages of lookups. */
  readonly readsPagesAlone: boolean;
};

const OF_PAGES = { isOfPages: true };

/** The `extensions` of a field of Query below which everything comes from its arguments and from pages of lookups. */
export const ofPages = (): typeof OF_PAGES => OF_PAGES;

const NOT_OF_PAGES = { isOfPages: false };

/** The `extensions` of a field of any other type that reads something else, such as the list of chains. */
export const notOfPages = (): typeof NOT_OF_PAGES => NOT_OF_PAGES;

/**
 * Returns what is known of a document whose lists plans can write. Returns null for a
 * document that is left to the executor: one without such lists, with introspection, or with another directive. `lists` are
 * the fields that plans write.
 */
const inspectDocument = (
  schema: GraphQLSchema,
  lists: ReturnType<typeof plannedFields>,
  document: DocumentNode,
): PlannedDocument | null => {
  const conditions = new Set<string>();
  let hasLists = false;
  let isKnown = true;
  let readsPagesAlone = true;
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const typeInfo = new TypeInfo(schema);
  const fragments = fragmentsIn(document);
  const onField = (node: FieldNode): void => {
    const parent = typeInfo.getParentType();
    const field = typeInfo.getFieldDef();
    if (field === TypeNameMetaFieldDef) return;
    if (!field || node.name.value.startsWith('__')) isKnown = false;
    else {
      const isRoot = isObjectType(parent) && roots.includes(parent);
      readsPagesAlone &&= (field.extensions.isOfPages ?? !isRoot) === true;
    }
    const list = field && lists.get(field);
    if (!list) return;
    hasLists = true;
    isKnown &&= isWrittenWhole(node, getNamedType(field.type), list.writable, fragments);
  };
  const onDirective = ({ name, arguments: args = [] }: DirectiveNode): void => {
    if (name.value !== 'skip' && name.value !== 'include') isKnown = false;
    for (const { value } of args) if (value.kind === Kind.VARIABLE) conditions.add(value.name.value);
  };
  visit(document, visitWithTypeInfo(typeInfo, { Field: onField, Directive: onDirective }));
  return hasLists && isKnown ? { conditions: [...conditions], readsPagesAlone } : null;
};

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

const fragmentsIn = ({ definitions }: DocumentNode): Fragments =>
  new Map(
    definitions
      .filter((node) => node.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );

/** Whether a field of this type, and everything below it, is among the fields that plans write. */
const isWrittenWhole = (
  node: FieldNode,
  type: GraphQLNamedType,
  writable: PlannedField['writable'],
  fragments: Fragments,
): boolean => {
  const visited = new Set<string>();
  const isWritten = (of: GraphQLNamedType, selections: readonly SelectionNode[] = []): boolean =>
    selections.every((selection) => {
      if (selection.kind === Kind.INLINE_FRAGMENT) return isWritten(of, selection.selectionSet.selections);
      const { value: name } = selection.name;
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        if (visited.has(`${of.name} ${name}`)) return true;
        visited.add(`${of.name} ${name}`);
        return isWritten(of, fragments.get(name)?.selectionSet.selections);
      }
      // A fragment on an interface may have fields for other types.
      const field = isObjectType(of) ? of.getFields()[name] : undefined;
      if (field === undefined) return true;
      return writable.has(field) && isWritten(getNamedType(field.type), selection.selectionSet?.selections);
    });
  return isWritten(type, node.selectionSet?.selections);
};

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
