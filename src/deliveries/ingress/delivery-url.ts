import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** The URLs to which upstream posts a tenant's events: `/deliveries/{tenant}/{token}`. The token is an HMAC of the tenant. */
export type DeliveryUrls = {
  /**
   * Returns a tenant's URL under `publicUrl`, by which upstream reaches this gateway, with or without a path. `webhookId`
   * names the webhook in the query, for a deployment that does not name it in its headers. Throws RangeError for a tenant
   * that can't stand in a URL's path.
   */
  urlOf(publicUrl: string, tenant: string, webhookId?: string | null): string;
  /**
   * Returns the tenant of the path's segments after `/deliveries`, which are still percent-encoded; null unless they are a
   * tenant and its token. The comparison takes constant time.
   */
  tenantOf(segments: readonly string[]): string | null;
  /** Whether the text is `urlOf` of some tenant, and names this webhook or none. */
  isUrlFor(publicUrl: string, webhookId: string, text: string): boolean;
};

/** Whether the text can be a tenant: it can stand in a URL's path. */
export const isTenant = (text: string): boolean => !['', '.', '..'].includes(text) && text.isWellFormed();

export const createDeliveryUrls = (secret: string | Uint8Array): DeliveryUrls => {
  // The secret may also sign other things: the prefix keeps their HMACs from being tokens.
  const tokenOf = (tenant: string) =>
    createHmac('sha256', secret).update(`delivery-url:1:${tenant}`).digest();

  const tenantOf = (segments: readonly string[]): string | null => {
    const [encoded, token, ...rest] = segments;
    if (encoded === undefined || token === undefined || rest.length > 0) return null;
    const tenant = decodeSegment(encoded);
    if (tenant === null) return null;
    const expected = tokenOf(tenant);
    const given = Buffer.from(token, 'base64url');
    const exact = given.length === expected.length && given.toString('base64url') === token;
    return timingSafeEqual(exact ? given : Buffer.alloc(expected.length), expected) && exact ? tenant : null;
  };

  return {
    tenantOf,
    isUrlFor(publicUrl, webhookId, text) {
      if (!URL.canParse(text)) return false;
      const { origin, pathname, searchParams } = new URL(text);
      const base = new URL(publicUrl);
      const path = `${base.pathname.replace(/\/+$/, '')}/deliveries/`;
      if (origin !== base.origin || !pathname.startsWith(path)) return false;
      const named = searchParams.get('webhook');
      return (
        (named === null || named === webhookId) && tenantOf(pathname.slice(path.length).split('/')) !== null
      );
    },
    urlOf(publicUrl, tenant, webhookId) {
      if (!isTenant(tenant))
        throw new RangeError(
          `Expected a tenant that can stand in a URL's path, got ${JSON.stringify(tenant)}.`,
        );
      const url = new URL(publicUrl);
      const base = url.pathname.replace(/\/+$/, '');
      url.pathname = `${base}/deliveries/${encodeURIComponent(tenant)}/${tokenOf(tenant).toString('base64url')}`;
      url.search = webhookId ? new URLSearchParams({ webhook: webhookId }).toString() : '';
      return url.href;
    },
  };
};

const decodeSegment = (segment: string): string | null => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
};

/**
 * Caches the verified URL of each connection, because a sender posts to one URL over one connection. The cache ends with
 * the connection: a shared one would let the time of an answer tell a sender about another's URL.
 */
export const cacheByConnection = ({ tenantOf }: Pick<DeliveryUrls, 'tenantOf'>) => {
  const verified = new WeakMap<Socket, { readonly path: string; readonly tenant: string }>();
  return ({ socket }: IncomingMessage, segments: readonly string[]): string | null => {
    const path = segments.join('/');
    const known = verified.get(socket);
    if (known?.path === path) return known.tenant;
    const tenant = tenantOf(segments);
    if (tenant !== null) verified.set(socket, { path, tenant });
    return tenant;
  };
};
