import {
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { costOf } from './field-cost.ts';

/** The types with a field on them, or anywhere below them, that the service bills: nothing else has to be walked. */
export const billableTypes = (schema: GraphQLSchema): ReadonlySet<GraphQLNamedType> => {
  const types = Object.values(schema.getTypeMap());
  const costly = new Set<GraphQLNamedType>();
  const leads = (type: GraphQLNamedType): boolean => {
    if (isAbstractType(type) && schema.getPossibleTypes(type).some((possible) => costly.has(possible)))
      return true;
    if (!isObjectType(type) && !isInterfaceType(type)) return false;
    return Object.values(type.getFields()).some(
      (field) => costOf(field)?.lookup !== undefined || costly.has(getNamedType(field.type)),
    );
  };
  for (let known = -1; known < costly.size; ) {
    known = costly.size;
    for (const type of types) if (leads(type)) costly.add(type);
  }
  return costly;
};
