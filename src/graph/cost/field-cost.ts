import type { GraphQLField } from 'graphql';
import type { ChainPricing } from '../../upstream/chain-pricing.ts';
import type { GlobalId } from '../global-id.ts';

/** What a field asks of the service at most, for one object that it is a field of. */
export type BilledLookup = {
  /** Which list it reads, and from where: equal ones of one object are asked for once, the larger for both. */
  readonly list: readonly unknown[];
  readonly computeUnits: number;
  /** A sentence on how to have it cost less, for a client that is refused. */
  readonly advice?: string;
};

/**
 * What a field says of its cost before it is resolved, in `extensions.cost`. A function that throws says that the
 * resolver will throw too, before it asks for anything.
 */
export type FieldCost<Args> = {
  /** Left out: it asks nothing that is billed. */
  readonly lookup?: (args: Args, pricing: ChainPricing) => BilledLookup;
  /** The objects that it gives, so that an operation which names one twice is not taken to pay twice. */
  readonly returns?: (args: Args) => readonly GlobalId[];
  /** How many it gives at most, where nobody knows yet which; one when this is left out too. */
  readonly count?: (args: Args) => number;
  /** How many items its list usually has, where the arguments do not say; left out: four. */
  readonly items?: number;
  /** What its value usually takes of an answer, as JSON, in bytes; left out: what is usual for its type. */
  readonly bytes?: number;
};

/** For the `extensions` of a field. */
export const withCost = <Args>(cost: FieldCost<Args>): { readonly cost: FieldCost<Args> } => ({ cost });

/** Undefined for a field that costs nothing by itself and gives one object. */
export const costOf = ({
  extensions,
}: Pick<GraphQLField<unknown, unknown>, 'extensions'>): FieldCost<Record<string, unknown>> | undefined =>
  extensions.cost as FieldCost<Record<string, unknown>> | undefined;
