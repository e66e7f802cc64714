import { type GraphQLSchema, getOperationAST, OperationTypeNode } from 'graphql';
import { createSecretFinder } from '../../../graph/secret-fields.ts';
import type { Compress } from '../../http/compressor.ts';
import { preferredCoding } from '../../http/content-coding.ts';
import { tagInCoding } from '../../http/entity-tag.ts';
import type { OperationPlugin } from '../operation-plugin.ts';
import type { ServerPlugin } from '../server-context.ts';

/**
 * Chooses the content coding of an answer over HTTP. Mutations, and operations that select a secret, have none: the length
 * of a compressed answer would tell how much of the secret is repeated beside it.
 */
export const useContentCoding = (schema: GraphQLSchema): OperationPlugin => {
  const selectsSecret = createSecretFinder(schema);
  return {
    onExecute({ args: { contextValue, document, operationName } }) {
      const accepted = contextValue.req?.headers['accept-encoding'];
      const coding = accepted ? preferredCoding(accepted.toString()) : null;
      if (coding === null || selectsSecret(document)) return;
      if (getOperationAST(document, operationName)?.operation === OperationTypeNode.QUERY)
        contextValue.contentCoding = coding;
    },
  };
};

/** Compresses the single results that Yoga sends. Event streams are sent as they are. */
export const useCompression = (compress: Compress): ServerPlugin => ({
  onResponse({ response, serverContext, setResponse, fetchAPI }) {
    const { operation, res } = serverContext;
    const coding = operation?.contentCoding;
    if (!coding || !res || !isSingleResult(response)) return undefined;
    const recode = async (): Promise<void> => {
      const { buffer, byteOffset, byteLength } = await response.bytes();
      const body = Buffer.from(buffer, byteOffset, byteLength);
      const compressed = await compress(() => [body], byteLength, coding, res);
      if (compressed === null) return;
      const { status, headers } = response;
      headers.delete('content-length');
      headers.set('content-encoding', coding);
      const tag = headers.get('etag');
      if (tag !== null) headers.set('etag', tagInCoding(tag, coding));
      setResponse(new fetchAPI.Response(Buffer.concat(compressed), { status, headers }));
    };
    return recode();
  },
});

const isSingleResult = ({ headers }: Response): boolean =>
  /^application\/(?:graphql-response\+)?json/.test(headers.get('content-type') ?? '');
