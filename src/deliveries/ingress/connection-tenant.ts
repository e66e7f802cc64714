import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { DeliveryUrls } from './delivery-url.ts';

/**
 * A sender keeps its connection and its url: what it has proven once over a connection is not reckoned again there. Not
 * remembered beyond that, where the time that an answer takes could tell one sender of another's url.
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
