import { type GraphQLSchema, getOperationAST, OperationTypeNode } from 'graphql';
import { createSecretFinder } from '../../../graph/authorization.ts';
import type { Compress } from '../../http/compressor.ts';
import type { OperationPlugin, ServerPlugin } from '../operation-plugin.ts';
import { tagInCoding } from './conditional-gets.ts';

/**
 * Decides which answers over HTTP may be compressed: those of queries that select no secret. The length of a compressed
 * answer would tell how much of the secret is repeated beside it.
 */
export const useCompressibleAnswers = (schema: GraphQLSchema): OperationPlugin => {
  const selectsSecret = createSecretFinder(schema);
  return {
    onExecute({ args: { contextValue, document, operationName } }) {
      const accepted = contextValue.req?.headers['accept-encoding'];
      if (!accepted || selectsSecret(document)) return;
      if (getOperationAST(document, operationName)?.operation === OperationTypeNode.QUERY)
        contextValue.acceptEncoding = accepted.toString();
    },
  };
};

/** Compresses the single results that Yoga sends. Event streams are sent as they are. */
export const useCompression = (compress: Compress): ServerPlugin => ({
  onResponse({ response, serverContext: { operation, res }, setResponse, fetchAPI }) {
    const { acceptEncoding } = operation ?? {};
    if (!acceptEncoding || !res || res.headersSent || !isSingleResult(response)) return undefined;
    const recode = async (): Promise<void> => {
      const { buffer, byteOffset, byteLength } = await response.bytes();
      const parts = [Buffer.from(buffer, byteOffset, byteLength)];
      const compressed = await compress(() => parts, byteLength, acceptEncoding, res);
      if (!compressed?.body) return;
      const { coding, body } = compressed;
      const { status, headers } = response;
      headers.delete('content-length');
      headers.set('content-encoding', coding);
      const tag = headers.get('etag');
      if (tag !== null) headers.set('etag', tagInCoding(tag, coding));
      setResponse(new fetchAPI.Response(Buffer.concat(body), { status, headers }));
    };
    return recode();
  },
});

const isSingleResult = ({ headers }: Response): boolean =>
  /^application\/(?:graphql-response\+)?json/.test(headers.get('content-type') ?? '');
