import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The URLs to which upstream posts a tenant's events: `/deliveries/{tenant}/{token}`. The token is an HMAC of the tenant, and
 * of the version of its URL from version 2 on. While a secret or a version is replaced, a tenant has several URLs.
 */
export type DeliveryUrls = {
  /**
   * Returns a tenant's current URL under `publicUrl`, by which upstream reaches this gateway, with or without a path.
   * `webhookId` names the webhook in the query, for a deployment that does not name it in its headers. Throws RangeError for
   * a tenant that can't stand in a URL's path.
   */
  urlOf(publicUrl: string, tenant: string, webhookId?: string | null): string;
  /** Returns all URLs of the tenant that are accepted, the current one first. Throws as `urlOf` does. */
  urlsOf(publicUrl: string, tenant: string, webhookId?: string | null): readonly string[];
  /**
   * Returns the tenant of the path's segments after `/deliveries`, which are still percent-encoded; null unless they are a
   * tenant and a token of it. The comparison takes constant time.
   */
  tenantOf(segments: readonly string[]): string | null;
  /** Whether the text is among `urlsOf` some tenant, and names this webhook or none. */
  isUrlFor(publicUrl: string, webhookId: string, text: string): boolean;
};

const TOKEN_BYTES = 32;

/** Whether the text can be a tenant: it can stand in a URL's path. */
export const isTenant = (text: string): boolean => !['', '.', '..'].includes(text) && text.isWellFormed();

/** The versions of the URLs of tenants, by the tenant as it stands in the path: the first signs, all verify. */
export type UrlVersions = ReadonlyMap<string, readonly number[]>;

/** The first of the secrets signs, and each verifies. A tenant that is not among the `versions` has version 1. */
export const createDeliveryUrls = (
  secrets: string | readonly string[],
  versions: UrlVersions = new Map(),
): DeliveryUrls => {
  const tokensOf = (tenant: string): readonly [Buffer, ...Buffer[]] => {
    const [current = 1, ...older] = versions.get(encodeURIComponent(tenant)) ?? [];
    const [signing = '', ...others] = typeof secrets === 'string' ? [secrets] : secrets;
    const tokenOf = (secret: string, version: number) =>
      // The secret may also sign other things: the prefix keeps their HMACs from being tokens.
      createHmac('sha256', secret).update(`delivery-url:${version}:${tenant}`).digest();
    return [
      tokenOf(signing, current),
      ...older.map((version) => tokenOf(signing, version)),
      ...others.flatMap((secret) => [current, ...older].map((version) => tokenOf(secret, version))),
    ];
  };

  const tenantOf = (segments: readonly string[]): string | null => {
    const [encoded, token, ...rest] = segments;
    if (encoded === undefined || token === undefined || rest.length > 0) return null;
    const tenant = decodeSegment(encoded);
    if (tenant === null) return null;
    const given = Buffer.from(token, 'base64url');
    const exact = given.length === TOKEN_BYTES && given.toString('base64url') === token;
    const compared = exact ? given : Buffer.alloc(TOKEN_BYTES);
    const equal = tokensOf(tenant).map((expected) => timingSafeEqual(compared, expected));
    return exact && equal.includes(true) ? tenant : null;
  };

  const urlsOf = (
    publicUrl: string,
    tenant: string,
    webhookId?: string | null,
  ): readonly [string, ...string[]] => {
    if (!isTenant(tenant))
      throw new RangeError(
        `Expected a tenant that can stand in a URL's path, got ${JSON.stringify(tenant)}.`,
      );
    const url = new URL(publicUrl);
    const path = `${url.pathname.replace(/\/+$/, '')}/deliveries/${encodeURIComponent(tenant)}`;
    url.search = webhookId ? new URLSearchParams({ webhook: webhookId }).toString() : '';
    const withToken = (token: Buffer): string => {
      url.pathname = `${path}/${token.toString('base64url')}`;
      return url.href;
    };
    const [current, ...others] = tokensOf(tenant);
    return [withToken(current), ...others.map(withToken)];
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
    urlsOf,
    urlOf: (publicUrl, tenant, webhookId) => urlsOf(publicUrl, tenant, webhookId)[0],
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
