import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
} from 'graphql';
import { hasScopes, isPlannable } from './compile.ts';

const EXTENSIONS = { hasPlannedLists: true };

/** The `extensions` of a connection type whose `nodes` and `edges` resolve to a PlannedList. */
export const withPlannedLists = (): typeof EXTENSIONS => EXTENSIONS;

type AnyField = GraphQLField<unknown, unknown>;

/** A field of a connection that plans write. */
export type PlannedField = { readonly kind: 'nodes' | 'edges'; readonly item: GraphQLObjectType };

/** The types of one schema that plans write. */
export class PlannedTypes {
  readonly lists = new Map<AnyField, PlannedField>();
  readonly #edges = new Set<GraphQLObjectType>();
  /** The types of nodes, and those of their nested records. */
  readonly #records = new Set<GraphQLObjectType>();

  constructor(schema: GraphQLSchema) {
    for (const type of Object.values(schema.getTypeMap()))
      if (isObjectType(type) && type.extensions.hasPlannedLists === true) this.#addConnection(type);
  }

  /** Whether plans can write a field. A field of a type that they don't write is left to the executor. */
  canWrite(parent: GraphQLObjectType, field: AnyField): boolean {
    if (!this.#records.has(parent) && !this.#edges.has(parent)) return true;
    if (hasScopes(parent) || hasScopes(field)) return false;
    return this.#records.has(parent) ? isPlannable(field) : field.name === 'cursor' || field.name === 'node';
  }

  #addConnection(type: GraphQLObjectType): void {
    const { nodes, edges } = type.getFields();
    const node = nodes && getNamedType(nodes.type);
    const edge = edges && getNamedType(edges.type);
    if (!nodes || !edges || !isObjectType(node) || !isObjectType(edge))
      throw new TypeError(`Expected ${type.name} to have nodes and edges.`);
    this.lists.set(nodes, { kind: 'nodes', item: node });
    this.lists.set(edges, { kind: 'edges', item: edge });
    this.#edges.add(edge);
    this.#addRecord(node);
  }

  #addRecord(type: GraphQLObjectType): void {
    if (this.#records.has(type)) return;
    this.#records.add(type);
    for (const field of Object.values(type.getFields())) {
      const inner = getNamedType(field.type);
      if (isObjectType(inner) && isPlannable(field)) this.#addRecord(inner);
    }
  }
}
