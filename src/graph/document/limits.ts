import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type ParseOptions,
  parse,
  type Source,
  specifiedRules,
  validate,
} from 'graphql';
import { clientError } from '../errors.ts';
import { type FieldMerging, fieldMergingOf } from './field-merging.ts';
import { type OperationSize, sizeOf } from './operation-size.ts';

const MAX_BYTES = 64 * 1024;
const MAX_TOKENS = 2000;

const LIMITS: readonly (readonly [measure: keyof OperationSize, max: number, what: string])[] = [
  ['depth', 16, 'levels of fields'],
  ['aliases', 50, 'aliases'],
  ['fields', 30, 'root fields'],
  ['directives', 30, 'directives'],
];

/** graphql compares each fragment with each other. A page of a Relay or Apollo client has some tens. */
const MAX_FRAGMENTS = 100;
/** A page of a Relay or Apollo client has some hundred fields, and some ten of one name. */
const MAX_MERGING: FieldMerging = { fields: 10_000, alike: 64 };

/**
 * Parses a document. Throws OPERATION_TOO_COMPLEX for a document that exceeds a limit, and graphql's own error for one
 * that is not GraphQL.
 */
export const parseDocument = (source: string | Source, options?: ParseOptions): DocumentNode => {
  const bytes = Buffer.byteLength(typeof source === 'string' ? source : source.body);
  if (bytes > MAX_BYTES) throw tooComplex(`a document of at most ${MAX_BYTES} bytes`, `one of ${bytes}`);
  try {
    return parse(source, { ...options, maxTokens: MAX_TOKENS });
  } catch (error) {
    if (error instanceof Error && error.message.includes(`more than ${MAX_TOKENS} tokens`))
      throw tooComplex(`a document of at most ${MAX_TOKENS} tokens`, 'one of more');
    throw error instanceof RangeError ? tooDeep() : error;
  }
};

type Rules = {
  /** The maximum number of errors. */
  readonly maxErrors: number;
  /** Whether the schema is private: introspection is an error, and errors suggest no names. */
  readonly closed: boolean;
};

/**
 * Returns the errors of a document. Its size is checked first, in a time that is proportional to its text: validation
 * alone takes far longer for some small documents.
 */
export const validateDocument = (
  schema: GraphQLSchema,
  document: DocumentNode,
  { maxErrors, closed }: Rules,
): readonly GraphQLError[] => {
  const limitError = checkSize(document);
  if (limitError) return [limitError];
  const rules = closed ? [...specifiedRules, NoSchemaIntrospectionCustomRule] : specifiedRules;
  try {
    // graphql adds one error, which says that it stopped.
    return validate(schema, document, rules, { maxErrors: maxErrors - 1, hideSuggestions: closed });
  } catch (error) {
    if (error instanceof RangeError) return [tooDeep()];
    throw error;
  }
};

const checkSize = (document: DocumentNode): GraphQLError | null => {
  const size = sizeOf(document);
  for (const [measure, max, what] of LIMITS)
    if (size[measure] > max)
      return tooComplex(`an operation of at most ${max} ${what}`, shown(size[measure]));
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION).length;
  if (fragments > MAX_FRAGMENTS)
    return tooComplex(`a document of at most ${MAX_FRAGMENTS} fragments`, `one of ${fragments}`);
  const { fields, alike } = fieldMergingOf(document, MAX_MERGING);
  if (alike > MAX_MERGING.alike)
    return tooComplex(`at most ${MAX_MERGING.alike} fields of one name in one place of the answer`, 'more');
  if (fields > MAX_MERGING.fields)
    return tooComplex(
      `an operation of at most ${MAX_MERGING.fields} fields and fragment spreads`,
      'one of more',
    );
  return null;
};

const tooDeep = (): GraphQLError => tooComplex('a document that can be read', 'one nested too deeply');

const tooComplex = (expected: string, got: string): GraphQLError =>
  clientError('OPERATION_TOO_COMPLEX', `Expected ${expected}, got ${got}.`);

/** Fragments that double at each level have counts of many digits. */
const shown = (count: number): string => (count > 1_000_000 ? 'more than a million' : String(count));
