import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type DocumentNode, type ExecutionArgs, print } from 'graphql';
import type { Context } from '../../context.ts';
import { rememberEach } from '../../lib/remember-each.ts';
import { SerializedData } from './serialize.ts';

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
