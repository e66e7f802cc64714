import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type DocumentNode, type ExecutionArgs, print } from 'graphql';
import type { Context } from '../../context.ts';
import { rememberEach } from '../../lib/values.ts';
import type { CacheBudget } from '../../upstream/cache/entries.ts';
import type { PageRead } from '../../upstream/list-loader.ts';
import { SerializedData } from './serialize.ts';

/** An answer that was sent: the hash of its data, and the pages that it was made of. */
export type KnownAnswer = { readonly digest: string; readonly reads: readonly PageRead[] };

/** The newest answer to each operation of each caller, without its data. */
export type KnownAnswers = {
  /** Returns the answer if each of its pages is the one that the operation would be served, and fresh; else null. */
  find(key: string): KnownAnswer | null;
  keep(key: string, answer: KnownAnswer): void;
};

/** The memory of an answer beside its key, and that of each page that it remembers. */
const ENTRY_BYTES = 512;
const READ_BYTES = 512;

/** They count within the same budget as pages. */
export const createKnownAnswers = (budget: CacheBudget): KnownAnswers => {
  const answers = new Map<string, KnownAnswer>();
  const nameOf = (key: string): string => `known ${key}`;
  return {
    find(key) {
      budget.touch(nameOf(key));
      const answer = answers.get(key);
      return answer?.reads.every((read) => read.isFresh()) ? answer : null;
    },
    keep(key, answer) {
      answers.set(key, answer);
      budget.add(nameOf(key), ENTRY_BYTES + 4 * key.length + READ_BYTES * answer.reads.length, () => {
        if (answers.get(key) === answer) answers.delete(key);
      });
    },
  };
};

/** What is hashed in one turn of the event loop: some milliseconds. */
const SLICE_BYTES = 1024 * 1024;

/** The answers that equal operations share are hashed once. */
const known = new WeakMap<SerializedData, string>();

type Args = Pick<ExecutionArgs, 'document' | 'operationName' | 'variableValues'> & {
  readonly contextValue: Pick<Context, 'authorizationKey'>;
};

/**
 * Resolves with the hash of an answer's data, and of its operation: document, variables and the caller's rights. Gateways
 * that sign their cursors with the same secret have the same hash for the same data.
 */
export const digestOf = async (args: Args, data: object): Promise<string> => {
  const serialized = data instanceof SerializedData ? data : null;
  const digest = (serialized && known.get(serialized)) ?? (await hash(args, chunksOf(data)));
  if (serialized) known.set(serialized, digest);
  return digest;
};

const chunksOf = (data: object): readonly Buffer[] =>
  data instanceof SerializedData ? data.chunks : [Buffer.from(JSON.stringify(data))];

const hash = async (
  { document, operationName, variableValues, contextValue }: Args,
  chunks: readonly Buffer[],
): Promise<string> => {
  const operation = [hashOf(document), operationName, variableValues, contextValue.authorizationKey()];
  const sha256 = createHash('sha256').update(JSON.stringify(operation));
  let inThisTurn = 0;
  for (const chunk of chunks)
    for (let from = 0; from < chunk.length; from += SLICE_BYTES) {
      const slice = chunk.subarray(from, from + SLICE_BYTES);
      inThisTurn += slice.length;
      if (inThisTurn > SLICE_BYTES) {
        await nextTurn();
        inThisTurn = slice.length;
      }
      sha256.update(slice);
    }
  return sha256.digest('base64url');
};

/** Returns the SHA-256 of a text, in base64. */
export const shortHash = (text: string): string => createHash('sha256').update(text).digest('base64url');

const hashOf = rememberEach((document: DocumentNode) =>
  shortHash(document.loc?.source.body ?? print(document)),
);
