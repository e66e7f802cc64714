import type { GraphQLParams } from 'graphql-yoga';
import { clientError } from '../../../graph/errors.ts';
import type { ServerPlugin } from '../server-context.ts';

type Params = GraphQLParams & { readonly documentId?: string };

/** Reads a GET's operation from its URL: `documentId` as well, and rejects parameters that aren't JSON with BAD_USER_INPUT. */
export const useGetRequests = (): ServerPlugin => ({
  onRequestParse({ request, setRequestParser }) {
    if (request.method === 'GET') setRequestParser(parseQuery);
  },
});

const parseQuery = ({ url }: Request): Params => {
  const given = new URLSearchParams(url.slice(url.indexOf('?') + 1));
  const params: Record<string, unknown> = {};
  for (const name of ['query', 'operationName', 'documentId']) params[name] = given.get(name) || undefined;
  for (const name of ['variables', 'extensions']) params[name] = parseJson(name, given.get(name));
  return params;
};

const parseJson = (name: string, text: string | null): unknown => {
  if (!text) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw clientError('BAD_USER_INPUT', `Expected ${name} to be JSON, got something else.`, {
      http: { status: 400, spec: true },
    });
  }
};
