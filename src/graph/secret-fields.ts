import { BREAK, type DocumentNode, type GraphQLSchema, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import { rememberEach } from '../lib/remember-each.ts';

/** The `extensions` of a field whose value is a secret. */
export const SECRET = { secret: true } as const;

/** Returns a function that tells whether a document selects a secret. It looks at each document once. */
export const createSecretFinder = (schema: GraphQLSchema): ((document: DocumentNode) => boolean) =>
  rememberEach((document) => selectsSecret(schema, document));

const selectsSecret = (schema: GraphQLSchema, document: DocumentNode): boolean => {
  const typeInfo = new TypeInfo(schema);
  let found = false;
  const Field = (): typeof BREAK | undefined => {
    found ||= typeInfo.getFieldDef()?.extensions.secret === true;
    return found ? BREAK : undefined;
  };
  visit(document, visitWithTypeInfo(typeInfo, { Field }));
  return found;
};
