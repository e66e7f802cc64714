import type { Config } from '../config/config.ts';
import { isTenant } from '../deliveries/ingress/delivery-url.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../logger.ts';
import {
  type Authenticate,
  authenticateAnyone,
  authenticateByKey,
  authenticateByToken,
} from '../server/auth/authenticate.ts';
import { createTokens } from '../server/auth/tokens.ts';

/** How clients show who they are, by AUTH. `secret` makes the tenants of keys. */
export const createAuthenticate = (
  { auth, upstream }: Config,
  gatewayKey: string | null,
  secret: string,
  log: Log,
  now: Clock,
): Authenticate => {
  if (auth.mode === 'key') return authenticateByKey(upstream.apiKeyHeader, secret);
  if (gatewayKey === null) throw new TypeError(`AUTH=${auth.mode} needs a key of the gateway, got none`);
  if (auth.mode === 'open') return authenticateAnyone(gatewayKey);
  return authenticateByToken(gatewayKey, createTokens({ ...auth, isTenant, log, now }));
};
