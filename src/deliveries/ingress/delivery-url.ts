import { createHmac, timingSafeEqual } from 'node:crypto';

/** Where the service posts a tenant's events to: `/deliveries/{tenant}/{token}`, the token proving that we made it. */
export type DeliveryUrls = {
  /**
   * `publicUrl` is how the service reaches this gateway, with or without a path of its own. `webhookId` is for a
   * service that does not name the webhook in its headers. Throws RangeError for a tenant that no path can carry.
   */
  deliveryUrl(publicUrl: string, tenant: string, webhookId?: string | null): string;
  /**
   * The tenant of the path's segments after `/deliveries`, still percent-encoded; null, in constant time, unless they
   * are a tenant and its token.
   */
  tenantOf(segments: readonly string[]): string | null;
};

/** Whether a url's path can carry it. */
export const isTenant = (text: string): boolean => !['', '.', '..'].includes(text) && text.isWellFormed();

export const createDeliveryUrls = (secret: string | Uint8Array): DeliveryUrls => {
  // The secret may also sign other things: the prefix keeps those from being tokens.
  const tokenOf = (tenant: string) =>
    createHmac('sha256', secret).update(`delivery-url:1:${tenant}`).digest();

  return {
    deliveryUrl(publicUrl, tenant, webhookId) {
      if (!isTenant(tenant))
        throw new RangeError(`a tenant must be able to stand in a url's path, got ${JSON.stringify(tenant)}`);
      const url = new URL(publicUrl);
      const base = url.pathname.replace(/\/+$/, '');
      url.pathname = `${base}/deliveries/${encodeURIComponent(tenant)}/${tokenOf(tenant).toString('base64url')}`;
      url.search = webhookId ? new URLSearchParams({ webhook: webhookId }).toString() : '';
      return url.href;
    },

    tenantOf(segments) {
      const [encoded, token, ...rest] = segments;
      if (encoded === undefined || token === undefined || rest.length > 0) return null;
      const tenant = decodeSegment(encoded);
      if (tenant === null) return null;
      const expected = tokenOf(tenant);
      const given = Buffer.from(token, 'base64url');
      const exact = given.length === expected.length && given.toString('base64url') === token;
      return timingSafeEqual(exact ? given : Buffer.alloc(expected.length), expected) && exact
        ? tenant
        : null;
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
