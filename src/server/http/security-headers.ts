/**
 * On every answer. Nothing here is a page but GraphiQL, which says itself what it may do; nothing may be kept, framed,
 * guessed at, or shown by another site.
 */
export const SECURITY_HEADERS: Map<string, string> = new Map([
  ['cache-control', 'no-store'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['cross-origin-resource-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
]);
