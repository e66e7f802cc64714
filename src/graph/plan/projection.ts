import type { DeriveContext } from '../../upstream/parse/derived.ts';
import {
  type EdgeField,
  type ListPlan,
  type Plan,
  type PlanField,
  viewOf,
} from '../../upstream/parse/record.ts';

/** An item of a list, as a plain value. */
export type ListItem = {
  readonly node: unknown;
  /** The cursor of its edge. It is made only when it is selected. */
  readonly cursor: string;
};

/** Returns what the executor returns for an item. Its JSON is the item's part of the answer. */
export type ProjectItem = (item: ListItem, context: DeriveContext) => object;

/** Compiles a plan to a function of the plain values of its items. */
export const createProjection = (plan: ListPlan): ProjectItem => {
  if (plan.kind === 'nodes') {
    const project = recordReader(plan.node);
    return ({ node }, context) => project(node as object, context);
  }
  const { typeName, fields } = plan;
  return objectReader(fields, (field) => edgeFieldReader(typeName, field));
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

const edgeFieldReader = (typeName: string, field: EdgeField): Read<ListItem> => {
  if (field.kind === 'typename') return () => typeName;
  if (field.kind === 'cursor') return ({ cursor }) => cursor;
  const project = recordReader(field.plan);
  return ({ node }, context) => project(node as object, context);
};

const recordReader = ({ typeName, fields }: Plan): Read<object, object> =>
  objectReader(fields, (field) => fieldReader(typeName, field));

const fieldReader = (typeName: string, field: PlanField): Read<object> => {
  if (field.kind === 'typename') return () => typeName;
  if (field.kind === 'derived') {
    const { derive } = field.field;
    return derive;
  }
  if (field.kind === 'view') {
    const { view, plan } = field;
    const project = recordReader(plan);
    return (record, context) => {
      const object = viewOf(view, record);
      return object && project(object, context);
    };
  }
  const { property, plan } = field;
  const read = (record: object): unknown => (record as Readonly<Record<string, unknown>>)[property] ?? null;
  if (plan === null) return read;
  const project = recordReader(plan);
  return (record, context) => {
    const value = read(record);
    if (value === null) return null;
    return Array.isArray(value)
      ? value.map((inner) => project(inner, context))
      : project(value as object, context);
  };
};
