import { createHash } from 'node:crypto';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { z } from 'zod';
import { parseDocument, validateDocument } from '../../graph/document/limits.ts';
import { badUserInput, clientError } from '../../graph/errors.ts';

/** The part of a request that says which document it is about, unread. */
type Naming = {
  readonly query?: unknown;
  readonly documentId?: unknown;
  readonly extensions?: unknown;
};

export type TrustedDocuments = {
  /**
   * The text of the document that a request names. Throws FORBIDDEN for one that is not trusted, also when it comes as a
   * text, and BAD_USER_INPUT when nothing is named.
   */
  documentOf(request: Naming): string;
  /** Whether this very text is trusted. */
  includes(text: string): boolean;
};

/** What is wrong with a file of trusted documents, all of it. */
export class TrustedDocumentsError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'TrustedDocumentsError';
    this.problems = problems;
  }
}

/** Reads `{sha256 hex: document}`, as JSON. Throws TrustedDocumentsError. */
export const readTrustedDocuments = (json: string, schema: GraphQLSchema): TrustedDocuments => {
  const documents = parseFile(json);
  const problems = [...documents].flatMap(([hash, text]) => problemsOf(hash, text, schema));
  if (problems.length > 0) throw new TrustedDocumentsError(problems);
  const texts = new Set(documents.values());
  return {
    documentOf({ query, documentId, extensions }) {
      const hash = hashIn(documentId, extensions);
      const document = hash === null ? undefined : documents.get(hash);
      if (document !== undefined && (!query || query === document)) return document;
      if (hash === null && !query)
        throw badUserInput('Expected documentId or extensions.persistedQuery.sha256Hash, got neither.');
      throw untrusted();
    },
    includes: (text) => texts.has(text),
  };
};

/** Runs only these: by name over HTTP, and nothing else over any transport. */
export const useTrustedDocuments = ({ documentOf, includes }: TrustedDocuments): Plugin => ({
  onParams({ params, setParams }) {
    const { operationName, variables, extensions } = params;
    setParams({ query: documentOf(params), ...defined({ operationName, variables, extensions }) });
  },
  onParse({ params: { source } }) {
    if (!includes(source.toString())) throw untrusted();
  },
});

const untrusted = (): GraphQLError =>
  clientError('FORBIDDEN', 'Expected a trusted document, by its sha256, got another one.', {
    http: { status: 403, spec: true },
  });

const defined = <Values extends object>(values: Values): Partial<Values> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<Values>;

const file = z.record(z.string(), z.string());

const parseFile = (json: string): ReadonlyMap<string, string> => {
  try {
    return new Map(Object.entries(file.parse(JSON.parse(json))));
  } catch {
    throw new TrustedDocumentsError([
      'expected a JSON object of documents by their sha256, got something else',
    ]);
  }
};

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const problemsOf = (hash: string, text: string, schema: GraphQLSchema): string[] => {
  const actual = sha256(text);
  if (actual !== hash) return [`${hash}: expected the sha256 of its document in hex, which is ${actual}`];
  return faultsOf(text, schema).map(({ message }) => `${hash}: ${message}`);
};

/** Held to what every document is held to: one that would be refused later is refused now. */
export const faultsOf = (text: string, schema: GraphQLSchema): readonly GraphQLError[] => {
  try {
    return validateDocument(schema, parseDocument(text), { maxErrors: 20, closed: true });
  } catch (error) {
    if (error instanceof GraphQLError) return [error];
    throw error;
  }
};

/** Names of documents as clients write them: `sha256:` before the hash is that of GraphQL over HTTP. */
const named = z.string().transform((id) => id.replace(/^sha256:/, ''));
const persisted = z.object({ persistedQuery: z.object({ sha256Hash: named }) });

const hashIn = (documentId: unknown, extensions: unknown): string | null =>
  named.safeParse(documentId).data ?? persisted.safeParse(extensions).data?.persistedQuery.sha256Hash ?? null;
