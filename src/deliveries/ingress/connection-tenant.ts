import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { DeliveryAddresses } from './delivery-url.ts';

/**
 * A sender keeps its connection and its url: what it has proven once over a connection is not reckoned again there. Not
 * remembered beyond that, where the time that an answer takes could tell one sender of another's url.
 */
export function provenTenants({ tenantOf }: Pick<DeliveryAddresses, 'tenantOf'>) {
  const proven = new WeakMap<Socket, { readonly path: string; readonly tenant: string }>();
  return ({ socket }: IncomingMessage, segments: readonly string[]): string | null => {
    const path = segments.join('/');
    const known = proven.get(socket);
    if (known?.path === path) return known.tenant;
    const tenant = tenantOf(segments);
    if (tenant !== null) proven.set(socket, { path, tenant });
    return tenant;
  };
}
