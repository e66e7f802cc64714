import {
  type DocumentNode,
  GraphQLNonNull,
  type GraphQLResolveInfo,
  GraphQLScalarType,
  type GraphQLSchema,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import type { Context } from '../../context.ts';
import type { ListPlan } from '../../upstream/parse/plan.ts';
import { compileEdges, compileNodes } from './compile.ts';
import { inspectDocument, type PlannedDocument } from './conditions.ts';
import { deriveOf } from './derived-field.ts';
import { DocumentPlans } from './document-plans.ts';
import { ListWriting, type PlannedList, writeList } from './list-writer.ts';
import { type PlannedField, plannedFields } from './planned-types.ts';
import { createProjection, type FindDerive } from './projection.ts';

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
  const findDerive = deriveFinder(schema);

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
      (plan: ListPlan) => new ListWriting(plan, createProjection(plan, findDerive)),
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

/** Finds the functions of derived fields by their coordinates. */
const deriveFinder =
  (schema: GraphQLSchema): FindDerive =>
  (coordinate) => {
    const [typeName = '', name = ''] = coordinate.split('.');
    const type = schema.getType(typeName);
    const field = isObjectType(type) ? type.getFields()[name] : undefined;
    const derive = field && deriveOf(field);
    if (!derive) throw new TypeError(`Expected ${coordinate} to be a derived field.`);
    return derive;
  };
