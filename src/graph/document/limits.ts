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

/** Each fragment is compared with each other. A page of Relay's or Apollo's has some tens. */
const MAX_FRAGMENTS = 100;
/** A page of Relay's or Apollo's has some hundred fields, and some ten that are alike. */
const MOST_TO_MERGE: FieldMerging = { fields: 10_000, alike: 64 };

/** Throws OPERATION_TOO_COMPLEX for what is too much to read, and graphql's own error for what is no GraphQL. */
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
  /** At most so many errors are looked for. */
  readonly maxErrors: number;
  /** Whether the schema is nobody's to ask for, neither by introspection nor by names that are nearly right. */
  readonly closed: boolean;
};

/** What is wrong with a document; its size is judged first, in a time that only its text decides. */
export const validateDocument = (
  schema: GraphQLSchema,
  document: DocumentNode,
  { maxErrors, closed }: Rules,
): readonly GraphQLError[] => {
  const refusal = refuse(document);
  if (refusal) return [refusal];
  const rules = closed ? [...specifiedRules, NoSchemaIntrospectionCustomRule] : specifiedRules;
  try {
    // graphql adds an error of its own, which says that it stopped.
    return validate(schema, document, rules, { maxErrors: maxErrors - 1, hideSuggestions: closed });
  } catch (error) {
    if (error instanceof RangeError) return [tooDeep()];
    throw error;
  }
};

const refuse = (document: DocumentNode): GraphQLError | null => {
  const size = sizeOf(document);
  for (const [measure, max, what] of LIMITS)
    if (size[measure] > max)
      return tooComplex(`an operation of at most ${max} ${what}`, shown(size[measure]));
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION).length;
  if (fragments > MAX_FRAGMENTS)
    return tooComplex(`a document of at most ${MAX_FRAGMENTS} fragments`, `one of ${fragments}`);
  const { fields, alike } = fieldMergingOf(document, MOST_TO_MERGE);
  if (alike > MOST_TO_MERGE.alike)
    return tooComplex(`at most ${MOST_TO_MERGE.alike} fields of one name in one place of the answer`, 'more');
  if (fields > MOST_TO_MERGE.fields)
    return tooComplex(
      `an operation of at most ${MOST_TO_MERGE.fields} fields and fragment spreads`,
      'one of more',
    );
  return null;
};

const tooDeep = (): GraphQLError => tooComplex('a document that can be read', 'one nested too deeply');

const tooComplex = (expected: string, got: string): GraphQLError =>
  clientError('OPERATION_TOO_COMPLEX', `Expected ${expected}, got ${got}.`);

/** Fragments that double one another add up to numbers that nobody can read. */
const shown = (count: number): string => (count > 1_000_000 ? 'more than a million' : String(count));
