import { createHash } from 'node:crypto';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import { z } from 'zod';
import { parseDocument, validateDocument } from '../../graph/document-limits.ts';
import { badUserInput, clientError } from '../../graph/errors.ts';

/** The part of a request that names its document, not validated yet. */
type DocumentReference = {
  readonly query?: unknown;
  readonly documentId?: unknown;
  readonly extensions?: unknown;
};

export type TrustedDocuments = {
  /** The SHA-256 of each document in hex, in the order of their file. */
  readonly hashes: readonly string[];
  /**
   * Returns the text of the document that a request names. Throws FORBIDDEN for a document that is not trusted, also for
   * one that is sent as text, and BAD_USER_INPUT when the request names none.
   */
  documentOf(request: DocumentReference): string;
};

/** A file of trusted documents is invalid. It lists every problem. */
export class TrustedDocumentsError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'TrustedDocumentsError';
    this.problems = problems;
  }
}

/** Parses a JSON object of documents by their SHA-256 in hex. Throws TrustedDocumentsError. */
export const readTrustedDocuments = (json: string, schema: GraphQLSchema): TrustedDocuments => {
  const documents = parseFile(json);
  const problems = [...documents].flatMap(([hash, text]) => problemsOf(hash, text, schema));
  if (problems.length > 0) throw new TrustedDocumentsError(problems);
  return {
    hashes: [...documents.keys()],
    documentOf({ query, documentId, extensions }) {
      const hash = hashIn(documentId, extensions);
      const document = hash === null ? undefined : documents.get(hash);
      if (document !== undefined && (!query || query === document)) return document;
      if (hash === null && !query)
        throw badUserInput('Expected documentId or extensions.persistedQuery.sha256Hash, got neither.');
      throw untrusted();
    },
  };
};

const untrusted = (): GraphQLError =>
  clientError('FORBIDDEN', 'Expected a trusted document, by its SHA-256, got another one.', {
    http: { status: 403, spec: true },
  });

const file = z.record(z.string(), z.string());

const parseFile = (json: string): ReadonlyMap<string, string> => {
  try {
    return new Map(Object.entries(file.parse(JSON.parse(json))));
  } catch {
    throw new TrustedDocumentsError([
      'expected a JSON object of documents by their SHA-256, got something else',
    ]);
  }
};

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const problemsOf = (hash: string, text: string, schema: GraphQLSchema): string[] => {
  const actual = sha256(text);
  if (actual !== hash) return [`${hash}: expected the SHA-256 of its document in hex, which is ${actual}`];
  return validationErrorsOf(text, schema).map(({ message }) => `${hash}: ${message}`);
};

/** The errors of a document under the limits of every document, so that none is trusted that would be rejected later. */
export const validationErrorsOf = (text: string, schema: GraphQLSchema): readonly GraphQLError[] => {
  try {
    return validateDocument(schema, parseDocument(text), { maxErrors: 20, closed: true });
  } catch (error) {
    if (error instanceof GraphQLError) return [error];
    throw error;
  }
};

/** A document's name as clients write it. The prefix `sha256:` is that of GraphQL over HTTP. */
const hashName = z.string().transform((id) => id.replace(/^sha256:/, ''));
const persisted = z.object({ persistedQuery: z.object({ sha256Hash: hashName }) });

const hashIn = (documentId: unknown, extensions: unknown): string | null =>
  hashName.safeParse(documentId).data ??
  persisted.safeParse(extensions).data?.persistedQuery.sha256Hash ??
  null;
