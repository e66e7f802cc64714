import type { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { clientError } from '../../../graph/errors.ts';

/**
 * Refuses posts that are not plain JSON. A page of any site may post a form to this gateway without asking: JSON makes its
 * browser ask first, and ALLOWED_ORIGINS answers.
 */
export const useJsonOnly = (): Plugin => ({
  onRequestParse({ request }) {
    if (request.method !== 'POST') return;
    const encoding = request.headers.get('content-encoding') ?? 'identity';
    if (encoding !== 'identity')
      throw unsupported(`Expected a body that is not compressed, got one in ${encoding}.`);
    const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
    if (type === 'application/json') return;
    throw unsupported(`Expected a content type of application/json, got ${type ?? 'none'}.`);
  },
});

const unsupported = (message: string): GraphQLError =>
  clientError('BAD_USER_INPUT', message, { http: { status: 415 } });
