import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { clientError } from '../../../graph/errors.ts';

type Params = GraphQLParams & { readonly documentId?: string };

/** Reads a GET's operation from its url: `documentId` too, and what is not JSON as the client's mistake. */
export const useGetRequests = (): Plugin => ({
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
