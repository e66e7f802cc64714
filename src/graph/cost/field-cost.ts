import {
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  isAbstractType,
  isEnumType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import type { ChainPricing } from '../../upstream/client/request.ts';
import type { Details } from '../../upstream/page.ts';
import { scopeOfField } from '../authorization.ts';
import type { GlobalId } from '../global-id.ts';
import type { OperationInfo } from './operation-info.ts';

/** The upstream requests that a field causes at most, for one parent object. */
export type BilledLookup = {
  /** Names the list that the field reads, and from where. Lookups of one object with equal names count once. */
  readonly list: readonly unknown[];
  /** The field that owns the list, where several fields read it. Default: this field. */
  readonly field?: string;
  /** What the lookups of one list must merge to share a request: see `requestsFor`. Default: nothing. */
  readonly details?: Details;
  readonly computeUnits: number;
  /**
   * Names the one item of the list that this use wants. Where several items of one list are wanted, each may cost as much
   * again: the list's page may lack it. Default: the list is wanted itself.
   */
  readonly item?: string;
  /** A sentence for a rejected client: how the lookup costs less. */
  readonly advice?: string;
};

/**
 * Returns the arguments of each use of a field directly below the one whose cost is asked for; with `of`, of a field of that
 * type, however far below.
 */
export type ArgumentsBelow = (field: string, of?: string) => readonly Readonly<Record<string, unknown>>[];

/**
 * What a field declares of its cost in `extensions.cost`, before it is resolved. A function that throws a GraphQLError
 * says that the resolver will fail as well, before it sends a request.
 */
export type FieldCost<Args> = {
  /** Default: the field causes no upstream request that is billed. */
  readonly lookup?: (
    args: Args,
    pricing: Pick<ChainPricing, 'priceOf' | 'pageWith'>,
    below: ArgumentsBelow,
  ) => BilledLookup;
  /** The objects that the field returns: an operation that names one twice pays once. */
  readonly returns?: (args: Args) => readonly GlobalId[];
  /** The most objects that the field returns, where their ids are not known yet. Default: 1. */
  readonly count?: (args: Args) => number;
  /** The most objects of a list whose length no argument limits, for what they cost. Default: `count`. */
  readonly most?: number;
  /** The usual number of items of a list whose length no argument limits. Default: DEFAULT_ITEMS. */
  readonly items?: number;
  /** The usual size of the value as JSON, in bytes. Default: `defaultBytes` of its type. */
  readonly bytes?: number;
};

type AnyFieldCost = FieldCost<Record<string, unknown>>;

/** Returns the `extensions` of a field that declares its cost. */
export const withCost = <Args>(cost: FieldCost<Args>): { readonly cost: FieldCost<Args> } => ({ cost });

/** Returns what a field declares; an empty declaration for a field that costs nothing and returns one object. */
export const costOf = ({ extensions }: Pick<GraphQLField<unknown, unknown>, 'extensions'>): AnyFieldCost =>
  (extensions.cost as AnyFieldCost | undefined) ?? {};

/**
 * Evaluates what a field declares for one use of it. Returns null for a field that will fail before it sends a request:
 * its arguments are invalid, or the caller lacks its scope.
 */
export const evaluateCost = <Result>(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  { variableValues, scopes }: OperationInfo,
  evaluate: (cost: AnyFieldCost, args: Record<string, unknown>) => Result,
): Result | null => {
  const scope = scopeOfField(field);
  if (scope !== undefined && !scopes.has(scope)) return null;
  try {
    return evaluate(costOf(field), getArgumentValues(field, node, variableValues));
  } catch (error) {
    if (error instanceof GraphQLError) return null;
    throw error;
  }
};

/** Returns the types with a field, on them or anywhere below them, that upstream bills. No other type adds to a cost. */
export const billableTypes = (schema: GraphQLSchema): ReadonlySet<GraphQLNamedType> => {
  const types = Object.values(schema.getTypeMap());
  const billable = new Set<GraphQLNamedType>();
  const isBillable = (type: GraphQLNamedType): boolean => {
    if (isAbstractType(type) && schema.getPossibleTypes(type).some((possible) => billable.has(possible)))
      return true;
    if (!isObjectType(type) && !isInterfaceType(type)) return false;
    return Object.values(type.getFields()).some(
      (field) => costOf(field).lookup !== undefined || billable.has(getNamedType(field.type)),
    );
  };
  for (let known = -1; known < billable.size; ) {
    known = billable.size;
    for (const type of types) if (isBillable(type)) billable.add(type);
  }
  return billable;
};

/** The number of items of a list that declares no `items`, and whose length no argument limits. */
export const DEFAULT_ITEMS = 4;

const SCALAR_BYTES: ReadonlyMap<string, number> = new Map([
  ['Address', 44],
  ['BigInt', 16],
  ['Boolean', 5],
  ['ChainId', 6],
  ['DateTime', 26],
  ['Decimal', 12],
  ['Float', 12],
  ['Hex', 68],
  ['ID', 160],
  ['Int', 6],
  ['JSON', 64],
  ['String', 24],
  ['URL', 80],
  ['UUID', 38],
]);
const ENUM_BYTES = 12;
const OTHER_BYTES = 32;

/** Returns the usual size, as JSON and in bytes, of a leaf whose field declares no `bytes`. */
export const defaultBytes = (type: GraphQLNamedType): number =>
  SCALAR_BYTES.get(type.name) ?? (isEnumType(type) ? ENUM_BYTES : OTHER_BYTES);
