import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isIntrospectionType,
  isLeafType,
  isListType,
  isObjectType,
} from 'graphql';
import type { Context } from '../../context.ts';
import { billableTypes, costOf } from '../cost/field-cost.ts';
import type { Answer } from './answer.ts';
import { SlicedList, StreamedList, weightOfLeaf, weightOfTypenames } from './weights.ts';

/**
 * Changes a schema so that each field adds its weight to the answer, and long lists are completed in slices. Returns the
 * schema.
 */
export const withWeighedFields = (schema: GraphQLSchema): GraphQLSchema => {
  const billable = billableTypes(schema);
  for (const type of Object.values(schema.getTypeMap()))
    if (isObjectType(type) && !isIntrospectionType(type))
      for (const field of Object.values(type.getFields())) field.resolve = weighed(field, billable);
  return schema;
};

type Resolve = NonNullable<GraphQLField<unknown, Context>['resolve']>;

/** Adds the weight of a resolved value to the answer, and returns the value for the executor. */
type Weigh = (value: unknown, answer: Answer, info: GraphQLResolveInfo) => unknown;

const weighed = (field: GraphQLField<unknown, Context>, billable: ReadonlySet<GraphQLNamedType>): Resolve => {
  const { type, resolve = defaultFieldResolver } = field;
  const weigh = weighFor(type, billable);
  const isLookup = costOf(field).lookup !== undefined;
  return (source, args, context, info) => {
    const { answer } = context;
    if (isLookup) answer.lookups += 1;
    const value = resolve(source, args, context, info);
    return value instanceof Promise
      ? value.then((resolved) => weigh(resolved, answer, info))
      : weigh(value, answer, info);
  };
};

const weighFor = (
  type: GraphQLField<unknown, Context>['type'],
  billable: ReadonlySet<GraphQLNamedType>,
): Weigh => {
  const named = getNamedType(type);
  if (isLeafType(named)) return weighLeaf;
  if (!isListType(getNullableType(type))) return weighObject;
  return weighObjects(billable.has(named) ? beginLookups : completeInSlices);
};

/** Returns a list whose items take long to complete. */
type Slice = (items: readonly unknown[], answer: Answer) => SlicedList<unknown>;

const completeInSlices: Slice = (items, answer) => answer.sliced(items);
const beginLookups: Slice = (items, answer) => answer.beginning(items);

/** The size of `"":` and of the comma after the value. */
const NAME_BYTES = 4;
/** The brackets of an object or a list. */
const BRACES = 2;
const COMMA = 1;

const weightOfName = ({ path }: GraphQLResolveInfo): number => String(path.key).length + NAME_BYTES;

const weighLeaf: Weigh = (value, answer, info) => {
  if (typeof value === 'object' && value !== null) answer.addJson(weightOfName(info), value);
  else answer.add(weightOfName(info) + weightOfLeaf(value), 1);
  return value;
};

const weighObject: Weigh = (value, answer, info) => {
  const typenames = weightOfTypenames(info);
  answer.add(weightOfName(info) + BRACES + typenames.bytes, 1 + typenames.values);
  return value;
};

const weighObjects =
  (slice: Slice): Weigh =>
  (value, answer, info) => {
    if (value instanceof StreamedList) return weighStreamed(value, answer, info);
    if (!Array.isArray(value) && !(value instanceof SlicedList)) return weighObject(value, answer, info);
    const { length } = value;
    answer.addPartsOfItems(info.fieldNodes, length);
    if (answer.isStopped) {
      ignoreFailures(value);
      return [];
    }
    const typenames = weightOfTypenames(info);
    const bytes = length * (BRACES + COMMA + typenames.bytes);
    answer.add(weightOfName(info) + BRACES + bytes, 1 + length * (1 + typenames.values));
    if (!Array.isArray(value) || answer.canCompleteAtOnce(length)) return value;
    // The executor awaits pending items at once: an unhandled rejection would end the process.
    return value.some(isPromise) ? value : slice(value, answer);
  };

/** The items of a growing list are weighed as they arrive. */
const weighStreamed = (
  list: StreamedList<unknown>,
  answer: Answer,
  info: GraphQLResolveInfo,
): StreamedList<unknown> => {
  const { bytes, values } = weightOfTypenames(info);
  answer.add(weightOfName(info) + BRACES, 1);
  list.onItem = () => answer.add(BRACES + COMMA + bytes, 1 + values);
  return list;
};

const isPromise = (item: unknown): boolean => item instanceof Promise;

/** Handles the rejections of a list that never reaches the executor: an unhandled rejection would end the process. */
const ignoreFailures = (items: SlicedList<unknown> | readonly unknown[]): void => {
  if (items instanceof SlicedList) return;
  for (const item of items) if (item instanceof Promise) item.catch(() => {});
};
