import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../../context.ts';
import { clientError } from '../../graph/errors.ts';
import { isObject } from '../../lib/json/exact-json.ts';

/**
 * Automatic persisted queries: a client sends the hash of a document alone, and its text beside it where the gateway does not
 * know that. Yoga's plugin for them bounds neither what one client adds nor their bytes, and is for HTTP through Yoga alone.
 */
export type PersistedQueries = {
  /** Returns the text with this hash. Throws PERSISTED_QUERY_NOT_FOUND: the client then sends both. */
  find(hash: string, caller: Caller): string;
  /** Keeps a valid document by its hash, which `namedDocument` has verified. */
  keep(hash: string, text: string, caller: Caller): void;
};

/** The memory of all texts, and of those that one client has added. Beyond it, those used least recently go. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_BYTES_EACH = 1024 * 1024;

/** The memory of an entry beside its text, of up to two bytes a character. */
const ENTRY_BYTES = 512;
const bytesOf = (text: string): number => ENTRY_BYTES + 2 * text.length;

/** A text, and the billing key of the client that has added it. */
type Query = { readonly text: string; readonly client: string };

/** What one client has added, in that order. */
type Added = { readonly keys: Set<string>; bytes: number };

export const createPersistedQueries = (): PersistedQueries => {
  const clients = new Map<string, Added>();
  const queries = new LRUCache<string, Query>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ text }) => bytesOf(text),
    dispose({ text, client }, key) {
      const added = clients.get(client);
      added?.keys.delete(key);
      if (added) added.bytes -= bytesOf(text);
      if (added?.keys.size === 0) clients.delete(client);
    },
  });
  // Who shares pages shares texts: thousands of users of one frontend send the same documents.
  const keyOf = (hash: string, { cachePartition }: Caller): string => `${cachePartition} ${hash}`;
  return {
    find(hash, caller) {
      const query = queries.get(keyOf(hash, caller));
      if (!query) throw clientError('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound');
      return query.text;
    },
    keep(hash, text, caller) {
      const key = keyOf(hash, caller);
      if (queries.get(key)) return;
      const { billingKey: client } = caller;
      const bytes = bytesOf(text);
      for (const oldest of clients.get(client)?.keys ?? []) {
        if ((clients.get(client)?.bytes ?? 0) + bytes <= MAX_BYTES_EACH) break;
        queries.delete(oldest);
      }
      const added = clients.get(client) ?? { keys: new Set(), bytes: 0 };
      clients.set(client, added);
      added.keys.add(key);
      added.bytes += bytes;
      queries.set(key, { text, client });
    },
  };
};

/** How a request names its document: by its text, by its hash alone, or by both. */
export type NamedDocument =
  | { readonly query: string; readonly hash: string | null }
  | { readonly query: null; readonly hash: string };

/** Reads how a request names its document, by an empty text beside a hash also by that alone, and verifies the hash. */
export const namedDocument = (query: string, extensions: unknown): NamedDocument => {
  const hash = persistedHashIn(extensions);
  if (hash !== null && query === '') return { query: null, hash };
  if (hash === null || hash === sha256(query)) return { query, hash };
  throw clientError('PERSISTED_QUERY_HASH_MISMATCH', 'provided sha does not match query', {
    http: { status: 400, spec: true },
  });
};

/** The hash in `extensions.persistedQuery`, as clients of Apollo and urql send it; null without one. */
export const persistedHashIn = (extensions: unknown): string | null => {
  const persisted = isObject(extensions) ? extensions.persistedQuery : null;
  const hash = isObject(persisted) ? persisted.sha256Hash : null;
  return typeof hash === 'string' ? withoutPrefix(hash) : null;
};

/** A document's name as clients write it. The prefix is that of GraphQL over HTTP. */
export const withoutPrefix = (name: string): string => name.replace(/^sha256:/, '');

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
