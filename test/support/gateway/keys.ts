import type { Answer } from '../upstream/fake-service.ts';

/** The environment of a gateway that holds no key: each client sends its own. */
export const byKey = { AUTH: 'key', UPSTREAM_API_KEY: undefined };

export const withKey = (key: string) => ({ 'x-service-api-key': key });

/** A service that has accepted the key, and has no webhook. */
export const acceptingKeys: Answer = () => ({ json: { webhooks: [] } });
