import type { EdgeField, ListPlan, Plan, PlanField } from '../../upstream/parse/plan.ts';
import type { Derive } from './derived-field.ts';

/** What derived fields are computed from, beside their record. */
type DeriveContext = Parameters<Derive>[1];

/** An item of a list, as a plain value. */
export type ListItem = {
  readonly node: unknown;
  /** The cursor of its edge. It is made only when it is selected. */
  readonly cursor: string;
};

/** Returns what the executor returns for an item. Its JSON is the item's part of the answer. */
export type ProjectItem = (item: ListItem, context: DeriveContext) => object;

/** Finds the function of a derived field by its schema coordinate. */
export type FindDerive = (coordinate: string) => Derive;

/** Compiles a plan to a function of the plain values of its items. */
export const createProjection = (plan: ListPlan, findDerive: FindDerive): ProjectItem => {
  if (plan.kind === 'nodes') {
    const project = recordReader(plan.node, findDerive);
    return ({ node }, context) => project(node as object, context);
  }
  const { typeName, fields } = plan;
  return objectReader(fields, (field) => edgeFieldReader(typeName, field, findDerive));
};

type Read<Source, Output = unknown> = (source: Source, context: DeriveContext) => Output;

/** An object without the members of every object: a client may call a field `__proto__`. V8 makes it as fast as `{}`. */
class Projection {
  [key: string]: unknown;
}
Object.setPrototypeOf(Projection.prototype, null);

const objectReader = <Field extends { readonly key: string }, Source>(
  fields: readonly Field[],
  readerOf: (field: Field) => Read<Source>,
): Read<Source, object> => {
  const readers = fields.map((field) => ({ key: field.key, read: readerOf(field) }));
  return (source, context) => {
    const projection = new Projection();
    for (const { key, read } of readers) projection[key] = read(source, context);
    return projection;
  };
};

const edgeFieldReader = (typeName: string, field: EdgeField, findDerive: FindDerive): Read<ListItem> => {
  if (field.kind === 'typename') return () => typeName;
  if (field.kind === 'cursor') return ({ cursor }) => cursor;
  const project = recordReader(field.plan, findDerive);
  return ({ node }, context) => project(node as object, context);
};

const recordReader = ({ typeName, fields }: Plan, findDerive: FindDerive): Read<object, object> =>
  objectReader(fields, (field) => fieldReader(typeName, field, findDerive));

const fieldReader = (typeName: string, field: PlanField, findDerive: FindDerive): Read<object> => {
  if (field.kind === 'typename') return () => typeName;
  if (field.kind === 'derived') {
    const derive = findDerive(field.name);
    return (record, context) => derive(record as never, context);
  }
  const { property, plan } = field;
  const read = (record: object): unknown => (record as Readonly<Record<string, unknown>>)[property] ?? null;
  if (plan === null) return read;
  const project = recordReader(plan, findDerive);
  return (record, context) => {
    const value = read(record);
    if (value === null) return null;
    return Array.isArray(value)
      ? value.map((inner) => project(inner, context))
      : project(value as object, context);
  };
};
