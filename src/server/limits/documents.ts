import { type DocumentNode, GraphQLError, type GraphQLSchema } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { parseDocument, validateDocument } from '../../graph/document.ts';
import { clientError } from '../../graph/errors.ts';
import { FairTurns } from '../../lib/fair-turns.ts';
import { createBudgets } from './budgets.ts';
import { createDocumentCache } from './document-cache.ts';
import { MAX_ERRORS } from './error-limit.ts';

/** Holds every document to its limits, whatever it came by, and reads each text once for all who send it. */
export type Documents = {
  readonly cache: ReturnType<typeof createDocumentCache>;
  readonly plugin: Plugin;
  /**
   * Reads a text and judges it, so that the pipeline finds it known. What was not read before waits for its turn, and
   * counts against what its client may have read. Rejects with RATE_LIMITED when that is used up, or the client has gone.
   */
  prepare(text: string, payer: string, gone: AbortSignal): Promise<void>;
};

type Options = {
  readonly schema: GraphQLSchema;
  /** See graph/document.ts. */
  readonly closed: boolean;
};

/** Of a client's new documents. A token takes some microseconds to be read and judged, in the worst documents five. */
const TOKENS_A_MINUTE = 200_000;
/** What a text is charged whose tokens nobody has counted, because it is no GraphQL. */
const BYTES_A_TOKEN = 4;
const MAX_TOKENS_OF_NO_GRAPHQL = 2000;

export const createDocuments = ({ schema, closed }: Options): Documents => {
  const cache = createDocumentCache();
  const judged = new WeakMap<DocumentNode, readonly GraphQLError[]>();
  const budgets = createBudgets(TOKENS_A_MINUTE);
  const turns = new FairTurns();

  const judge = (document: DocumentNode): readonly GraphQLError[] => {
    const known = judged.get(document);
    if (known) return known;
    const errors = validateDocument(schema, document, { maxErrors: MAX_ERRORS, closed });
    judged.set(document, errors);
    return errors;
  };
  /** How many tokens it has. */
  const read = (text: string): number => {
    try {
      const document = parseDocument(text);
      judge(document);
      cache.documentCache.set(text, document);
      return document.tokenCount ?? 0;
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      // The pipeline meets it again, and tells.
      return Math.min(text.length / BYTES_A_TOKEN, MAX_TOKENS_OF_NO_GRAPHQL);
    }
  };
  const readFor = (payer: string, text: string): void => {
    const shortfall = budgets.take(payer, 1);
    if (shortfall) throw throttled(shortfall.retryAfterMs);
    budgets.settle(payer, 1, read(text));
  };

  return {
    cache,
    plugin: {
      onParse: ({ setParseFn }) => setParseFn(parseDocument),
      onValidate: ({ setValidationFn }) => setValidationFn((_schema, document) => judge(document)),
      // Variables are coerced by the executor, which knows names that are nearly right too.
      onExecute: ({ args }) => void Object.assign(args, { hideSuggestions: closed }),
      onSubscribe: ({ args }) => void Object.assign(args, { hideSuggestions: closed }),
    },
    async prepare(text, payer, gone) {
      if (cache.documentCache.get(text)) return;
      await turns.run(payer, () => {
        if (gone.aborted) throw throttled(null);
        if (!cache.documentCache.get(text)) readFor(payer, text);
      });
    },
  };
};

const throttled = (retryAfterMs: number | null): GraphQLError =>
  clientError(
    'RATE_LIMITED',
    `Expected a document that was read before, or new ones of at most ${TOKENS_A_MINUTE} tokens a minute, got more.`,
    { retryAfterMs: retryAfterMs ?? 1 },
  );
