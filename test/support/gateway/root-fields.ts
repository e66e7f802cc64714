import {
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  type OperationTypeNode,
} from 'graphql';
import { addressOf } from '../upstream/builders.ts';

export type RootField = {
  /** `Query.wallet` */
  readonly coordinate: string;
  /** An operation that selects it alone, with the least arguments that it takes. */
  readonly query: string;
};

const UUID = '019a7b1c-5c00-7d1e-8a30-6b1f0c2e9d41';

export const globalId = (typename: string, id: string): string =>
  Buffer.from(`${typename}:${id}`).toString('base64');

const SAMPLES: Readonly<Record<string, string>> = {
  Address: addressOf(7),
  Hex: `0x${'ab'.repeat(32)}`,
  UUID,
  URL: 'https://example.test/',
  ID: globalId('Webhook', UUID),
  ChainId: '1',
  WebhookType: 'ACTIVITIES',
  String: 'text',
};

/** Every field of Query, Mutation and Subscription: one that comes to be is among them. */
export const rootFields = (schema: GraphQLSchema): readonly RootField[] =>
  (['query', 'mutation', 'subscription'] as OperationTypeNode[]).flatMap((operation) => {
    const type = schema.getRootType(operation);
    return Object.values(type?.getFields() ?? {}).map((field) => {
      const required = field.args.filter(isRequiredArgument);
      const given = required.map((arg) => `${arg.name}: ${sample(arg.type)}`).join(', ');
      const selection = isCompositeType(getNamedType(field.type)) ? ' { __typename }' : '';
      return {
        coordinate: `${type?.name}.${field.name}`,
        query: `${operation} { ${field.name}${given && `(${given})`}${selection} }`,
      };
    });
  });

const sample = (type: GraphQLInputType): string => {
  if (isNonNullType(type)) return sample(type.ofType);
  if (isListType(type)) return `[${sample(type.ofType)}]`;
  if (isInputObjectType(type)) {
    const all = Object.values(type.getFields());
    const fields = type.isOneOf ? all.slice(-1) : all.filter((field) => isNonNullType(field.type));
    return `{ ${fields.map((field) => `${field.name}: ${sample(field.type)}`).join(', ')} }`;
  }
  const value = SAMPLES[type.name];
  if (value === undefined) throw new Error(`expected a sample of ${type.name} in root-fields.ts, got none`);
  return 'getValues' in type ? value : JSON.stringify(value);
};
