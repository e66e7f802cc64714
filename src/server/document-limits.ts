import type { DocumentNode } from 'graphql';
import type { Plugin, YogaServerOptions } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { parseDocument, validateDocument } from '../graph/document.ts';
import { MAX_ERRORS } from './error-limit.ts';

/** Holds every document to its limits, whatever it came by; see graph/document.ts for what `closed` closes. */
export const useDocumentLimits = ({ closed }: { readonly closed: boolean }): Plugin => ({
  onParse: ({ setParseFn }) => setParseFn(parseDocument),
  onValidate: ({ setValidationFn }) =>
    setValidationFn((schema, document) =>
      validateDocument(schema, document, { maxErrors: MAX_ERRORS, closed }),
    ),
  // Variables are coerced by the executor, which knows names that are nearly right too.
  onExecute: ({ args }) => void Object.assign(args, { hideSuggestions: closed }),
  onSubscribe: ({ args }) => void Object.assign(args, { hideSuggestions: closed }),
});

const MAX_CACHED_BYTES = 32 * 1024 * 1024;
/** Measured: a token keeps up to 420, and what is wrong with it about as much. */
const BYTES_A_TOKEN = 1024;

/** Documents that were read before, by their text; bounded by what they keep, not by how many they are. */
export const documentCache = (): Exclude<
  YogaServerOptions<object, object>['parserAndValidationCache'],
  boolean | undefined
> => ({
  documentCache: new LRUCache<string, DocumentNode>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: ({ tokenCount = 1 }, text) => 2 * text.length + BYTES_A_TOKEN * (tokenCount + 1),
  }),
  // What is no GraphQL is found out again as quickly as it was looked up.
  errorCache: { get: () => undefined, set: () => {} },
});
