import { type DocumentNode, GraphQLError, type GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import { parseDocument, validateDocument } from '../../../graph/document-limits.ts';
import { clientError, withCode } from '../../../graph/errors.ts';
import type { Clock } from '../../../lib/deadlines.ts';
import { createRoundRobinScheduler } from '../../../lib/fair-slices.ts';
import type { Trace } from '../../../lib/trace.ts';
import { createTrace, traceOf } from '../../http/exchange.ts';
import { MAX_ERRORS } from '../errors.ts';
import type { OperationArgs, OperationPlugin, ServerPlugin } from '../operation-plugin.ts';
import { createBudgets } from './compute-units.ts';

/** Limits the documents of every transport, and parses and validates each text once for all clients. */
export type Documents = {
  /** Prepares, parses and validates the documents of HTTP requests that Yoga answers. */
  readonly plugin: ServerPlugin;
  /** Hides name suggestions in the executor's errors if the schema is private. */
  readonly suggestions: OperationPlugin;
  /**
   * Parses and validates a text, which is in the cache then. A new text waits in a queue that is fair between clients, and
   * its tokens count against its client's rate limit. Rejects with RATE_LIMITED when the client has used that up, or has
   * disconnected. Of an invalid text `parse` or `validate` has the errors.
   */
  prepare(text: string, billingKey: string, clientSignal: AbortSignal, trace: Trace): Promise<void>;
  /** Returns the document of a text if it is in the cache and valid; else null. */
  known(text: string): DocumentNode | null;
  /** Returns the document of a text. Throws if the text is not a GraphQL document. */
  parse(text: string): DocumentNode;
  /** Returns the errors of a document. */
  validate(document: DocumentNode): readonly GraphQLError[];
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
      withCode(error, 'GRAPHQL_VALIDATION_FAILED'),
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
      throw error instanceof GraphQLError ? withCode(error, 'GRAPHQL_PARSE_FAILED') : error;
    }
  };
  const known = (text: string): DocumentNode | null => {
    const document = cache.get(text);
    return document && validated.get(document)?.length === 0 ? document : null;
  };
  /** Parses and validates a text, and returns its count of tokens. */
  const read = (text: string, trace: Trace): number => {
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
      // The transport parses the text again and returns the error to the client.
      return Math.min(text.length / CHARACTERS_A_TOKEN, MAX_TOKENS_OF_INVALID_TEXT);
    }
  };
  const readWithinBudget = (billingKey: string, text: string, trace: Trace): void => {
    const shortfall = budgets.take(billingKey, 1);
    if (shortfall) throw rateLimited(shortfall.retryAfterMs);
    budgets.settle(billingKey, 1, read(text, trace));
  };
  const prepare: Documents['prepare'] = async (text, billingKey, clientSignal, trace) => {
    if (cache.get(text)) return;
    await scheduler.run(billingKey, () => {
      if (clientSignal.aborted) throw rateLimited(null);
      if (!cache.get(text)) readWithinBudget(billingKey, text, trace);
    });
  };

  const plugin: ServerPlugin = {
    async onParams({ params: { query }, request, context: { httpCaller, preparedText, res } }) {
      if (typeof query === 'string' && query !== preparedText && httpCaller)
        await prepare(query, httpCaller.billingKey, request.signal, res ? traceOf(res) : createTrace());
    },
    onParse: ({ setParseFn }) => setParseFn(parse),
    onValidate: ({ setValidationFn }) => setValidationFn((_schema, document) => validate(document)),
  };
  const hideSuggestions = ({ args }: { readonly args: OperationArgs }) =>
    void Object.assign(args, { hideSuggestions: closed });
  const suggestions: OperationPlugin = { onExecute: hideSuggestions, onSubscribe: hideSuggestions };
  return { plugin, suggestions, prepare, known, parse, validate };
};

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
