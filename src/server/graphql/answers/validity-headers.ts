import type { ServerPlugin } from '../server-context.ts';

/**
 * Sends the `Validity` of an answer, and 304 in place of an answer that its client has. `credentialHeader` names the header
 * that tells callers apart; null without one.
 */
export const useValidityHeaders = (credentialHeader: string | null): ServerPlugin => ({
  onResponse({ response: { headers, status }, serverContext, setResponse, fetchAPI }) {
    const { validity, unchanged } = serverContext.operation ?? {};
    if (!validity || status !== 200) return;
    const { tag, maxAgeSeconds } = validity;
    headers.set('etag', tag);
    headers.set('cache-control', `private, ${maxAgeSeconds > 0 ? `max-age=${maxAgeSeconds}` : 'no-cache'}`);
    const vary = [headers.get('vary'), 'Accept', credentialHeader];
    headers.set('vary', vary.filter(Boolean).join(', '));
    if (!unchanged) return;
    headers.delete('content-type');
    headers.delete('content-length');
    setResponse(new fetchAPI.Response(null, { status: 304, headers }));
  },
});
