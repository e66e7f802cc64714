import type { Plugin } from 'graphql-yoga';
import { clientError } from '../graph/errors.ts';

/**
 * Refuses posts that are not JSON. A page of any site may post a form to this gateway without asking: JSON makes its
 * browser ask first, and ALLOWED_ORIGINS answers.
 */
export const useJsonOnly = (): Plugin => ({
  onRequestParse({ request }) {
    if (request.method !== 'POST') return;
    const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
    if (type === 'application/json') return;
    throw clientError(
      'BAD_USER_INPUT',
      `Expected a content type of application/json, got ${type ?? 'none'}.`,
      {
        http: { status: 415 },
      },
    );
  },
});
