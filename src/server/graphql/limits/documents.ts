import { type DocumentNode, GraphQLError, type GraphQLSchema } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { parseDocument, validateDocument } from '../../../graph/document/limits.ts';
import { clientError } from '../../../graph/errors.ts';
import type { Clock } from '../../../lib/clock.ts';
import { createRoundRobinScheduler } from '../../../lib/round-robin-scheduler.ts';
import { createBudgets } from './budgets.ts';
import { createDocumentCache } from './document-cache.ts';
import { MAX_ERRORS } from './error-limit.ts';

/** Holds the documents of every transport to their limits, and parses and validates each text once for all clients. */
export type Documents = {
  readonly cache: ReturnType<typeof createDocumentCache>;
  readonly plugin: Plugin;
  /**
   * Parses and validates a text ahead of the pipeline, which then finds it in the cache. A new text waits for its turn,
   * and its tokens count against its client's. Rejects with RATE_LIMITED when the client has used those up, or has gone.
   */
  prepare(text: string, billingKey: string, clientSignal: AbortSignal): Promise<void>;
};

type Options = {
  readonly schema: GraphQLSchema;
  /** See graph/document/limits.ts. */
  readonly closed: boolean;
  readonly now: Clock;
};

/** Of a client's new documents. To parse and validate a token takes some microseconds, in the worst documents five. */
const TOKENS_A_MINUTE = 200_000;
/** A text that does not parse has no count of tokens: it is charged by its length. */
const BYTES_A_TOKEN = 4;
const MAX_TOKENS_OF_NO_GRAPHQL = 2000;

export const createDocuments = ({ schema, closed, now }: Options): Documents => {
  const cache = createDocumentCache();
  const judged = new WeakMap<DocumentNode, readonly GraphQLError[]>();
  const budgets = createBudgets(TOKENS_A_MINUTE, now);
  // Parsing and validating can't be interrupted: each document is a slice, and all together use half of the thread.
  const scheduler = createRoundRobinScheduler({ sliceMs: 0, pauses: true });

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
      // The pipeline meets the error again, and gives it to the client.
      return Math.min(text.length / BYTES_A_TOKEN, MAX_TOKENS_OF_NO_GRAPHQL);
    }
  };
  const readFor = (billingKey: string, text: string): void => {
    const shortfall = budgets.take(billingKey, 1);
    if (shortfall) throw throttled(shortfall.retryAfterMs);
    budgets.settle(billingKey, 1, read(text));
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
    async prepare(text, billingKey, clientSignal) {
      if (cache.documentCache.get(text)) return;
      await scheduler.run(billingKey, () => {
        if (clientSignal.aborted) throw throttled(null);
        if (!cache.documentCache.get(text)) readFor(billingKey, text);
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
