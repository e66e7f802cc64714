import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  type OperationTypeNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { parseDocument, validateDocument } from '../../../graph/document-limits.ts';
import { clientError, type ErrorCode, withCode } from '../../../graph/errors.ts';
import type { Clock } from '../../../lib/deadlines.ts';
import { createRoundRobinScheduler } from '../../../lib/time-slices.ts';
import type { Trace } from '../../../lib/trace.ts';
import { MAX_ERRORS } from '../errors.ts';
import type { OperationArgs, OperationPlugin } from '../operation-plugin.ts';
import { createBudgets } from './compute-units.ts';

/** A valid document, and the type of the operation that a client names in it. */
type KnownOperation = { readonly document: DocumentNode; readonly type: OperationTypeNode };

/** The client of a new document. */
type DocumentClient = {
  readonly billingKey: string;
  readonly clientSignal: AbortSignal;
  readonly trace: Trace;
};

/** A document that does not validate. */
export class InvalidDocument extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super('invalid document');
    this.name = 'InvalidDocument';
    this.errors = errors;
  }
}

/** Limits the documents of every transport, and parses and validates each text once for all clients. */
export type Documents = {
  /** Hides name suggestions in the executor's errors if the schema is private. */
  readonly suggestions: OperationPlugin;
  /** Returns an operation whose document is in the cache and valid; else null. */
  known(text: string, operationName: string | null | undefined): KnownOperation | null;
  /**
   * Parses and validates a text, which is in the cache then. A new text waits in a queue that is fair between clients, and
   * its tokens count against its client's rate limit. Rejects with the error of a text that is not a GraphQL document, with
   * BAD_USER_INPUT where it has no such operation, with InvalidDocument, and with RATE_LIMITED when the client has used up
   * its limit, or has disconnected.
   */
  read(
    text: string,
    operationName: string | null | undefined,
    client: DocumentClient,
  ): Promise<KnownOperation>;
};

/** Reports what new documents cost. */
export type DocumentObserver = {
  /** A step begins. The returned function is called when it has ended, with whether the document is invalid. */
  reading?(step: 'parse' | 'validate', trace: Trace): ((isInvalid: boolean) => void) | undefined;
};

type Options = {
  readonly schema: GraphQLSchema;
  /** See graph/document/limits.ts. */
  readonly closed: boolean;
  readonly now: Clock;
  readonly observer: DocumentObserver;
};

const MAX_CACHED_BYTES = 32 * 1024 * 1024;
/** A token of a cached document, as measured: up to 420 bytes, and its validation errors about as much. */
const CACHED_BYTES_A_TOKEN = 1024;

/** The rate limit for a client's new documents. Parsing and validating takes some microseconds a token, at worst five. */
const TOKENS_A_MINUTE = 200_000;
/** A text that can't be parsed has no count of tokens. It is charged by its length. */
const CHARACTERS_A_TOKEN = 4;
const MAX_TOKENS_OF_INVALID_TEXT = 2000;

export const createDocuments = ({ schema, closed, now, observer }: Options): Documents => {
  const cache = createDocumentCache();
  const validated = new WeakMap<DocumentNode, readonly GraphQLError[]>();
  const budgets = createBudgets(TOKENS_A_MINUTE, now);
  // Parsing and validating can't be interrupted: each document is a slice, and all together use half of the thread.
  const scheduler = createRoundRobinScheduler({ sliceMs: 0, pauses: true });

  const validate = (document: DocumentNode): readonly GraphQLError[] => {
    const known = validated.get(document);
    if (known) return known;
    const errors = validateDocument(schema, document, { maxErrors: MAX_ERRORS, closed }).map((error) =>
      asRejection(error, 'GRAPHQL_VALIDATION_FAILED'),
    );
    validated.set(document, errors);
    return errors;
  };
  // Parsing a text that is not GraphQL fails as quickly as a lookup.
  const parse = (text: string): DocumentNode => {
    const known = cache.get(text);
    if (known) return known;
    try {
      const document = parseDocument(text);
      cache.set(text, document);
      return document;
    } catch (error) {
      throw error instanceof GraphQLError ? asRejection(error, 'GRAPHQL_PARSE_FAILED') : error;
    }
  };
  const known: Documents['known'] = (text, operationName) => {
    const document = cache.get(text);
    if (!document || validated.get(document)?.length !== 0) return null;
    const type = getOperationAST(document, operationName)?.operation;
    return type ? { document, type } : null;
  };
  /** Parses and validates a text, and returns its count of tokens. */
  const countTokens = (text: string, trace: Trace): number => {
    let end = observer.reading?.('parse', trace);
    try {
      const document = parse(text);
      end?.(false);
      end = observer.reading?.('validate', trace);
      const errors = validate(document);
      end?.(errors.length > 0);
      return document.tokenCount ?? 0;
    } catch (error) {
      end?.(true);
      if (!(error instanceof GraphQLError)) throw error;
      // The text is parsed again, for the error that its client gets.
      return Math.min(text.length / CHARACTERS_A_TOKEN, MAX_TOKENS_OF_INVALID_TEXT);
    }
  };
  const readWithinBudget = (billingKey: string, text: string, trace: Trace): void => {
    const shortfall = budgets.take(billingKey, 1);
    if (shortfall) throw rateLimited(shortfall.retryAfterMs);
    budgets.settle(billingKey, 1, countTokens(text, trace));
  };
  const read: Documents['read'] = async (text, operationName, { billingKey, clientSignal, trace }) => {
    if (!cache.get(text))
      await scheduler.run(billingKey, () => {
        if (clientSignal.aborted) throw rateLimited(null);
        if (!cache.get(text)) readWithinBudget(billingKey, text, trace);
      });
    const document = parse(text);
    const type = getOperationAST(document, operationName)?.operation;
    if (!type) throw clientError('BAD_USER_INPUT', NO_OPERATION, { http: { status: 400 } });
    const errors = validate(document);
    if (errors.length > 0) throw new InvalidDocument(errors);
    return { document, type };
  };

  const hideSuggestions = ({ args }: { readonly args: OperationArgs }) =>
    void Object.assign(args, { hideSuggestions: closed });
  const suggestions: OperationPlugin = { onExecute: hideSuggestions, onSubscribe: hideSuggestions };
  return { suggestions, known, read };
};

/** The error of a document that is not executed. Its HTTP status is for the media types that have one for GraphQL's errors. */
const asRejection = (error: GraphQLError, code: ErrorCode): GraphQLError => {
  const { message, nodes, source, positions, extensions } = withCode(error, code);
  const http = { status: 400, spec: true };
  return new GraphQLError(message, { nodes, source, positions, extensions: { ...extensions, http } });
};

const NO_OPERATION = 'Expected operationName to name an operation of the document, got none or another.';

/** A cache of parsed documents by their text, bounded by their estimated memory. */
const createDocumentCache = () =>
  new LRUCache<string, DocumentNode>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: ({ tokenCount = 1 }, text) => 2 * text.length + CACHED_BYTES_A_TOKEN * (tokenCount + 1),
  });

const rateLimited = (retryAfterMs: number | null): GraphQLError =>
  clientError(
    'RATE_LIMITED',
    `Expected a document that was sent before, or new ones of at most ${TOKENS_A_MINUTE} tokens a minute, got more.`,
    { retryAfterMs: retryAfterMs ?? 1 },
  );
