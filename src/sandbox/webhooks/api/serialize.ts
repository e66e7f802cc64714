import type { Webhook } from '../webhook.ts';

const NEVER_LEFT_OUT = new Set(['name', 'url']);

/** `2025-11-13T04:42:10.123456Z` from microseconds since 1970. */
const timestamp = (microseconds: number): string => {
  const milliseconds = Math.floor(microseconds / 1000);
  const rest = String(microseconds % 1000).padStart(3, '0');
  return new Date(milliseconds).toISOString().replace('Z', `${rest}Z`);
};

/** The webhook as clients see it: unset filters are left out, the address list has an operation of its own. */
export const resource = (webhook: Webhook): Readonly<Record<string, unknown>> => {
  const shown = {
    ...webhook,
    created_at: timestamp(webhook.created_at),
    updated_at: timestamp(webhook.updated_at),
  };
  return Object.fromEntries(
    Object.entries(shown).filter(([field, value]) => value !== null || NEVER_LEFT_OUT.has(field)),
  );
};
