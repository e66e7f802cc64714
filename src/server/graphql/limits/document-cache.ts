import type { DocumentNode } from 'graphql';
import type { YogaServerOptions } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';

type Caches = Exclude<YogaServerOptions<object, object>['parserAndValidationCache'], boolean | undefined>;

const MAX_BYTES = 32 * 1024 * 1024;
/** Measured: a token keeps up to 420, and what is wrong with it about as much. */
const BYTES_A_TOKEN = 1024;

/** Documents that were read before, by their text: as many as they weigh, however many different ones come. */
export const createDocumentCache = () =>
  ({
    documentCache: new LRUCache<string, DocumentNode>({
      maxSize: MAX_BYTES,
      sizeCalculation: ({ tokenCount = 1 }, text) => 2 * text.length + BYTES_A_TOKEN * (tokenCount + 1),
    }),
    // What is no GraphQL is found out again as quickly as it was looked up.
    errorCache: { get: () => undefined, set: () => {} },
  }) satisfies Caches;
