import { GraphQLError, type GraphQLSchema } from 'graphql';
import { z } from 'zod';
import { parseDocument, validateDocument } from '../../graph/document-limits.ts';
import { badUserInput, clientError } from '../../graph/errors.ts';
import { createTimeSlices } from '../../lib/time-slices.ts';
import { persistedHashIn, sha256, withoutPrefix } from './persisted-queries.ts';

/** The part of a request that names its document, not validated yet. */
type DocumentReference = {
  readonly query?: unknown;
  readonly documentId?: unknown;
  readonly extensions?: unknown;
};

/** Texts of documents by their SHA-256 in hex, in the order of their file. All are valid. */
export type DocumentTexts = ReadonlyMap<string, string>;

/** The documents that may run. A reload replaces them all at once; operations that run already are not affected. */
export type TrustedDocuments = {
  /** Returns those of now. */
  texts(): DocumentTexts;
  /**
   * Returns the text of the document that a request names. Throws FORBIDDEN for a document that is not trusted, also for
   * one that is sent as text, PERSISTED_QUERY_NOT_SUPPORTED where a client would send its text next, and BAD_USER_INPUT
   * when the request names none.
   */
  documentOf(request: DocumentReference): string;
  /** Calls the listener after each reload, before any operation of the new documents. */
  onReload(listener: () => void): void;
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

/** Creates the documents, and the function that replaces them. */
export const createTrustedDocuments = (
  initial: DocumentTexts,
): { readonly documents: TrustedDocuments; readonly replace: (texts: DocumentTexts) => void } => {
  let texts = initial;
  const listeners: (() => void)[] = [];
  const documents: TrustedDocuments = {
    texts: () => texts,
    documentOf({ query, documentId, extensions }) {
      const id = typeof documentId === 'string' ? withoutPrefix(documentId) : null;
      const hash = id ?? persistedHashIn(extensions);
      const document = hash === null ? undefined : texts.get(hash);
      if (document !== undefined && (!query || query === document)) return document;
      if (hash === null && !query)
        throw badUserInput('Expected documentId or extensions.persistedQuery.sha256Hash, got neither.');
      if (id === null && hash !== null && !query) throw notPersisted();
      throw untrusted();
    },
    onReload: (listener) => void listeners.push(listener),
  };
  const replace = (next: DocumentTexts): void => {
    texts = next;
    for (const listener of listeners) listener();
  };
  return { documents, replace };
};

/**
 * Parses a JSON object of documents by their SHA-256 in hex, and validates each. It lets other work run in between. Rejects
 * with TrustedDocumentsError.
 */
export const readTrustedDocuments = async (json: string, schema: GraphQLSchema): Promise<DocumentTexts> => {
  const texts = parseFile(json);
  const slices = createTimeSlices();
  const problems: string[] = [];
  for (const [hash, text] of texts) {
    if (slices.isOver()) await slices.next();
    problems.push(...problemsOf(hash, text, schema));
  }
  if (problems.length > 0) throw new TrustedDocumentsError(problems);
  return texts;
};

const untrusted = (): GraphQLError =>
  clientError('FORBIDDEN', 'Expected a trusted document, by its SHA-256, got another one.', {
    http: { status: 403, spec: true },
  });

const notPersisted = (): GraphQLError =>
  clientError('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported');

const file = z.record(z.string(), z.string());

const parseFile = (json: string): DocumentTexts => {
  try {
    return new Map(Object.entries(file.parse(JSON.parse(json))));
  } catch {
    throw new TrustedDocumentsError([
      'expected a JSON object of documents by their SHA-256, got something else',
    ]);
  }
};

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
